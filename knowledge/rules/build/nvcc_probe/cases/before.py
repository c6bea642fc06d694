import shutil

import torch
from torch.utils.cpp_extension import CUDAExtension

if shutil.which("nvcc") is None:
    raise SystemExit("nvcc is needed to build this package")
extension = CUDAExtension("ops", ["ops.cu"])
