"""Attention over camera tokens."""
import torch
from torch import nn
from xformers.ops import memory_efficient_attention

try:
    import flash_attn
    from flash_attn import flash_attn_func

    FLASH_ATTN_AVAILABLE = True
except ImportError:
    flash_attn = None
    FLASH_ATTN_AVAILABLE = False


class CameraAttention(nn.Module):
    """Mixes the camera tokens of a batch of views."""

    def __init__(self, dim: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert FLASH_ATTN_AVAILABLE, "CameraAttention needs flash-attn; pip install flash-attn"
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).unbind(2)
        y = flash_attn_func(q.half(), k.half(), v.half(), causal=False)
        return x + self.out(y.reshape(b, n, c).to(x.dtype))


class PixelAttention(nn.Module):
    """Self-attention on low-resolution image features, for the exposure head."""

    def __init__(self, dim: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).unbind(2)
        return x + memory_efficient_attention(q, k, v).reshape(b, n, c)
