from setuptools import setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

sources = ["csrc/ball_query.cpp"]
cxx_flags = ["-O3", "-std=c++17"]

if CUDA_HOME is not None:
    extension = CUDAExtension(
        "ballgroup._C",
        sources + ["csrc/ball_query_cuda.cu"],
        define_macros=[("WITH_CUDA", None)],
        extra_compile_args={"cxx": cxx_flags, "nvcc": ["-O3"]},
    )
else:
    extension = CppExtension("ballgroup._C", sources, extra_compile_args=cxx_flags)

setup(
    name="ballgroup",
    version="0.3.1",
    packages=["ballgroup"],
    install_requires=["torch"],
    ext_modules=[extension],
    cmdclass={"build_ext": BuildExtension},
)
