"""RoPE2D in plain PyTorch: half of a head rotates by the row (y), half by the column (x).

Su, Lu, Pan, Murtadha, Wen, Liu, RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021; for images as in
Weinzaepfel et al., CroCo v2: Improved Cross-view Completion Pre-training for Stereo Matching and Optical Flow, 2023
"""

from __future__ import annotations

import torch


def frequencies(base: float, scale: float, quarter: int) -> torch.Tensor:
    """Angle per unit of position in radians, float64 [quarter], from `scale` down to almost `scale / base`."""
    return scale * base ** (-torch.arange(quarter, dtype=torch.float64) / max(quarter, 1))


def rotate(tokens: torch.Tensor, positions: torch.Tensor, base: float, scale: float) -> torch.Tensor:
    """Tokens [B, N, H, D] at positions [B, N, 2] (y, x). float16 and bfloat16 are computed in float32."""
    dtype = torch.promote_types(tokens.dtype, torch.float32)
    angle_steps = frequencies(base, scale, tokens.shape[-1] // 4).to(tokens.device)
    halves = []
    for half, position in zip(tokens.to(dtype).chunk(2, dim=-1), positions.unbind(-1), strict=True):
        angle = (position.double()[..., None] * angle_steps)[:, :, None].to(dtype)
        first, second = half.chunk(2, dim=-1)
        cosine, sine = angle.cos(), angle.sin()
        halves += [first * cosine - second * sine, first * sine + second * cosine]
    return torch.cat(halves, dim=-1).to(tokens.dtype)
