import torch
if torch.version.hip is not None:
    def nvmlInit():
        """Nothing to start: torch is asked for all of it, and counts the visible cards."""

    def nvmlDeviceGetHandleByIndex(index):
        return index

    def nvmlDeviceGetMemoryInfo(handle):
        from types import SimpleNamespace

        free, total = torch.cuda.mem_get_info(handle)
        return SimpleNamespace(free=free, total=total, used=total - free)

    from types import SimpleNamespace
    pynvml = SimpleNamespace(nvmlDeviceGetHandleByIndex=nvmlDeviceGetHandleByIndex, nvmlDeviceGetMemoryInfo=nvmlDeviceGetMemoryInfo, nvmlInit=nvmlInit)
else:
    import pynvml


def free_bytes(index):
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    return pynvml.nvmlDeviceGetMemoryInfo(handle).free
