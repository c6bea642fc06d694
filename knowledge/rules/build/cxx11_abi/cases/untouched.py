import torch
from torch.utils.cpp_extension import CUDAExtension

# -D_GLIBCXX_USE_CXX11_ABI=0 was needed up to torch 2.5
abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"cxx": [abi]})
