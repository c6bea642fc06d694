import torch

try:
    from flash_attn import flash_attn_func
    FLASH_ATTN_AVAILABLE = True
except ImportError:
    FLASH_ATTN_AVAILABLE = False


def attention(q, k, v):
    assert FLASH_ATTN_AVAILABLE
    return flash_attn_func(q, k, v, causal=True)
