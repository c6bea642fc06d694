from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(ext_modules=[CUDAExtension("ext", ["scale.cu"], define_macros=[("USE_ROCM", None)])], cmdclass={"build_ext": BuildExtension})
