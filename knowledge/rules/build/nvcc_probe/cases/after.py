import shutil

import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

if shutil.which("nvcc") is None and not is_rocm:
    raise SystemExit("nvcc is needed to build this package")
extension = CUDAExtension("ops", ["ops.cu"])
