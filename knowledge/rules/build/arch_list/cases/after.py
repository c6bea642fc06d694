import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

archs = ["75", "80", "90"]
gencode = [] if is_rocm else [f"-gencode=arch=compute_{a},code=sm_{a}" for a in archs]
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": gencode})
