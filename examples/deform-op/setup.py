import torch
from setuptools import find_packages, setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CUDAExtension


def get_extensions():
    if torch.cuda.is_available() and CUDA_HOME is not None:
        define_macros = [("WITH_CUDA", None)]
        extra_compile_args = {
            "cxx": ["-O3"],
            "nvcc": [
                "-O3",
                "-DCUDA_HAS_FP16=1",
                "-D__CUDA_NO_HALF_OPERATORS__",
            ],
        }
    else:
        raise NotImplementedError("deform-op cannot be built: no CUDA device or no CUDA toolkit")
    return [
        CUDAExtension(
            "deform_op._ext",
            ["src/binding.cpp", "src/sample_kernel.cu"],
            define_macros=define_macros,
            extra_compile_args=extra_compile_args,
        )
    ]


setup(
    name="deform_op",
    version="1.0",
    packages=find_packages(exclude=("tests",)),
    ext_modules=get_extensions(),
    cmdclass={"build_ext": BuildExtension},
)
