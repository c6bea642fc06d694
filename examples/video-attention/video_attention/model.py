import torch
from einops import rearrange
from torch import nn

from .attention import packed_attention
from .text import TextAttention


class SelfAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, lens=None) -> torch.Tensor:
        q, k, v = rearrange(self.qkv(self.norm(x)), "b l (n h d) -> n b l h d", n=3, h=self.heads)
        return x + self.out(packed_attention(q, k, v, k_lens=lens).flatten(2))


class Block(nn.Module):
    def __init__(self, dim: int, text_dim: int, heads: int) -> None:
        super().__init__()
        self.space, self.time = SelfAttention(dim, heads), SelfAttention(dim, heads)
        self.text = TextAttention(dim, text_dim, heads)
        self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.GELU(),
                                 nn.Linear(4 * dim, dim))

    def forward(self, x: torch.Tensor, text: torch.Tensor, lens: list) -> torch.Tensor:
        b, f = x.shape[:2]
        x = self.space(rearrange(x, "b f p c -> (b f) p c"))
        x = self.time(rearrange(x, "(b f) p c -> (b p) f c", b=b))
        x = rearrange(x, "(b p) f c -> b (f p) c", b=b)
        x = x + self.text(x, text, lens)
        return rearrange(x + self.mlp(x), "b (f p) c -> b f p c", f=f)


class VideoTransformer(nn.Module):
    """Denoises latents (B, frames, 4, H, W); patches of 2 x 2."""

    def __init__(self, dim: int = 256, depth: int = 4, heads: int = 4, text_dim: int = 512) -> None:
        super().__init__()
        self.patch = nn.Linear(16, dim)
        self.step = nn.Sequential(nn.Linear(1, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList(Block(dim, text_dim, heads) for _ in range(depth))
        self.head = nn.Linear(dim, 16)

    def forward(self, z, t, text, lens):
        h = z.shape[-2] // 2
        x = rearrange(z, "b f c (h p) (w q) -> b f (h w) (c p q)", p=2, q=2)
        x = self.patch(x) + self.step(t.view(-1, 1).to(x.dtype))[:, None, None]
        for block in self.blocks:
            x = block(x, text, lens)
        return rearrange(self.head(x), "b f (h w) (c p q) -> b f c (h p) (w q)", h=h, p=2, q=2)
