from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(ext_modules=[CUDAExtension("ext", ["scale.cu"], extra_compile_args={"nvcc": ["-O3", "-DUSE_ROCM=0"]})], cmdclass={"build_ext": BuildExtension})
