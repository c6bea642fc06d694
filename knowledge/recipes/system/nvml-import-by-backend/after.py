import torch

if torch.version.hip is not None:
    pynvml = None
else:
    import pynvml


def free_bytes(index):
    if torch.version.hip is not None:
        return torch.cuda.mem_get_info(index)[0]
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    return pynvml.nvmlDeviceGetMemoryInfo(handle).free
