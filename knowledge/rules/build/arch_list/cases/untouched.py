import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None
gencode = [] if is_rocm else [f"-gencode=arch=compute_{a},code=sm_{a}" for a in ("80", "90")]
folders = [f"sm_{name}" for name in ("all", "members")]
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": gencode})
