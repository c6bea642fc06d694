import torch

try:
    from xformers.ops import memory_efficient_attention
except ImportError:
    memory_efficient_attention = None

note = "from xformers.ops import memory_efficient_attention"
