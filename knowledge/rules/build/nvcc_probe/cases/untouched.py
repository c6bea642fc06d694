import shutil

import torch
from torch.utils.cpp_extension import CUDAExtension

if shutil.which("nvcc") is None and torch.version.hip is None:
    raise SystemExit("no compiler")
ninja = shutil.which("ninja") is not None
extension = CUDAExtension("ops", ["ops.cu"])
