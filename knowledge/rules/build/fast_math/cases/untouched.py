import torch
from torch.utils.cpp_extension import CppExtension

# A plain C++ extension: its flags are the same for every backend.
extension = CppExtension("ops", ["ops.cpp"], extra_compile_args=["-O3", "-ffast-math"])
note = "-ffast-math"
