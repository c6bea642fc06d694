import torch

is_rocm = torch.version.hip is not None


def quantize(x, scale):
    dtype = torch.float8_e4m3fnuz if is_rocm and torch.cuda.get_device_properties(torch.cuda.current_device()).gcnArchName.startswith("gfx94") else torch.float8_e4m3fn
    return (x / scale).to(dtype)
