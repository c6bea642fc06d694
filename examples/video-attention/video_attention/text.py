"""Cross-attention to text tokens."""
import torch
import xformers.ops
from torch import nn


class TextAttention(nn.Module):
    def __init__(self, dim: int, text_dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(text_dim, 2 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, text: torch.Tensor, lens: list) -> torch.Tensor:
        """x is (B, L, C); text holds the tokens of all prompts, one after another."""
        b, n, c = x.shape
        q = self.q(x).view(1, b * n, self.heads, -1)
        k, v = self.kv(text).view(1, -1, 2, self.heads, c // self.heads).unbind(2)
        bias = xformers.ops.fmha.BlockDiagonalMask.from_seqlens([n] * b, lens)
        y = xformers.ops.memory_efficient_attention(q, k, v, attn_bias=bias)
        return self.out(y.reshape(b, n, c))
