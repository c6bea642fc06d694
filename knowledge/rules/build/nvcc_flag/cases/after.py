from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
import torch

is_rocm = torch.version.hip is not None

setup(
    name="ops",
    ext_modules=[
        CUDAExtension(
            name="ops._C",
            sources=["ops.cpp", "ops.cu"],
            extra_compile_args={
                "cxx": ["-O3"],
                "nvcc": ["-O3", "-DUSE_HALF"] if is_rocm else ["-O3", "--use_fast_math", "-Xptxas", "-v", "-DUSE_HALF"],
            },
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
