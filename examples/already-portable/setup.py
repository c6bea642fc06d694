import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CUDAExtension

is_rocm = torch.version.hip is not None

if not (CUDA_HOME is not None or torch.version.hip is not None):
    raise RuntimeError("rownorm needs a GPU toolchain: the CUDA toolkit, or ROCm with its PyTorch")

device_flags = ["-O3", "-ffast-math"] if is_rocm else ["-O3", "--use_fast_math", "-lineinfo"]

setup(
    name="rownorm",
    version="0.4.0",
    packages=["rownorm"],
    ext_modules=[
        CUDAExtension(
            "rownorm._C",
            ["csrc/binding.cpp", "csrc/rownorm.cu"],
            extra_compile_args={"cxx": ["-O3"], "nvcc": device_flags},
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
