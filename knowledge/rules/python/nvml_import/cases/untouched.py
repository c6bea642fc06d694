import torch

try:
    import pynvml
except ImportError:
    pynvml = None

# pynvml.nvmlInit()
free = torch.cuda.mem_get_info(0)[0] if torch.cuda.is_available() else 0
