import torch

is_rocm = torch.version.hip is not None


def quantize(x, scale):
    dtype = torch.float8_e4m3fnuz if is_rocm and torch.cuda.get_device_properties(torch.cuda.current_device()).gcnArchName.split(":")[0] in ("gfx940", "gfx941", "gfx942") else torch.float8_e4m3fn
    return (x / scale).to(dtype)
