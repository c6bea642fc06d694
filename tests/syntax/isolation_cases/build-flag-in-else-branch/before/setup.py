from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

import torch

if torch.version.hip is not None:
    flags = []
else:
    flags = ['-DUSE_ROCM=0']
setup(ext_modules=[CUDAExtension("ext", ["scale.cu"], extra_compile_args={"nvcc": flags})], cmdclass={"build_ext": BuildExtension})
