from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(ext_modules=[CUDAExtension("ext", ["scale.cu"], extra_compile_args=["-D", "USE_ROCM"])], cmdclass={"build_ext": BuildExtension})
