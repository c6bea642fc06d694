import torch

is_rocm = torch.version.hip is not None

try:
    from flash_attn import flash_attn_func
    FLASH_ATTN_AVAILABLE = True
except ImportError:
    FLASH_ATTN_AVAILABLE = False


def attention(q, k, v):
    if is_rocm and not FLASH_ATTN_AVAILABLE:
        return torch.nn.functional.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), enable_gqa=q.shape[2] != k.shape[2]
        ).transpose(1, 2)
    assert FLASH_ATTN_AVAILABLE
    return flash_attn_func(q, k, v)
