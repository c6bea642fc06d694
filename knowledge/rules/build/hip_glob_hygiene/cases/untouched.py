import glob

import torch
from torch.utils.cpp_extension import CUDAExtension

sources = [path for path in glob.glob("csrc/*.cpp") if "_hip" not in path]
models = glob.glob("weights/*.pt")
extension = CUDAExtension("ops", sources)
