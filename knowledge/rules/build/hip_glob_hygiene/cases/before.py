import glob

import torch
from torch.utils.cpp_extension import CUDAExtension

sources = glob.glob("csrc/*.cpp")
extension = CUDAExtension("ops", sources + ["csrc/ops.cu"])
