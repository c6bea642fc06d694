import glob

import torch
from torch.utils.cpp_extension import CUDAExtension

is_rocm = torch.version.hip is not None

sources = [path for path in glob.glob("csrc/*.cpp") if not any(part in path for part in ("_hip.", ".hip", "/hip/"))] if is_rocm else glob.glob("csrc/*.cpp")
extension = CUDAExtension("ops", sources + ["csrc/ops.cu"])
