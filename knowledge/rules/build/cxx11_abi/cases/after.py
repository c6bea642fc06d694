import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}" if is_rocm else "-D_GLIBCXX_USE_CXX11_ABI=0"
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"cxx": [abi], "nvcc": [abi]})
