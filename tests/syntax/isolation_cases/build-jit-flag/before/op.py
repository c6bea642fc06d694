from torch.utils.cpp_extension import load

op = load("op", ["scale.cu"], extra_cuda_cflags=["-DUSE_ROCM=0"])
