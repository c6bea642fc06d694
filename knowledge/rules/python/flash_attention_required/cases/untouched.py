import torch

try:
    from flash_attn import flash_attn_func
except ImportError:
    flash_attn_func = None


def attention(q, k, v):
    if flash_attn_func is None:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return flash_attn_func(q, k, v)
