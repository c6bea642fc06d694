import os

from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension, CUDA_HOME

if CUDA_HOME is None:
    raise RuntimeError("splat-trainer needs the CUDA toolkit: set CUDA_HOME and try again")

here = os.path.dirname(os.path.abspath(__file__))

setup(
    name="splat_trainer",
    version="0.1.0",
    packages=find_packages(),
    ext_modules=[
        CUDAExtension(
            name="splat_trainer._C",
            sources=["csrc/forward.cu", "csrc/ext.cpp"],
            include_dirs=[os.path.join(here, "csrc")],
            extra_compile_args={
                "cxx": ["-O3", "-std=c++17"],
                "nvcc": [
                    "-O3",
                    "--use_fast_math",
                    "--expt-relaxed-constexpr",
                    "-gencode=arch=compute_86,code=sm_86",
                    "-Xptxas",
                    "-v",
                ],
            },
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
