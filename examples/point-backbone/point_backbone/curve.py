"""Order along a space-filling curve."""
import torch


def interleave(v: torch.Tensor, bits: int = 16) -> torch.Tensor:
    """Puts two zero bits between the low bits of v."""
    v = v.long()
    out = torch.zeros_like(v)
    for b in range(bits):
        out |= (v >> b & 1) << 3 * b
    return out


def curve_key(grid: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
    x, y, z = (interleave(grid[:, i]) for i in range(3))
    return batch.long() << 48 | x << 2 | y << 1 | z
