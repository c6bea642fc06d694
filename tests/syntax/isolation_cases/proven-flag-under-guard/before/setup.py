from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

import torch

flags = ['-O3']
if torch.version.hip is not None:
    flags += ['-DUSE_ROCM', '-U__HIP_NO_HALF_CONVERSIONS__']
setup(ext_modules=[CUDAExtension("ext", ["scale.cu"], extra_compile_args={"nvcc": flags})], cmdclass={"build_ext": BuildExtension})
