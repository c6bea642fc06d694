import torch
from torch.utils.cpp_extension import CUDAExtension

archs = ["75", "80", "90"]
gencode = [f"-gencode=arch=compute_{a},code=sm_{a}" for a in archs]
extension = CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": gencode})
