import math

import torch
from torch import nn
from torchdiffeq import odeint_adjoint


class VelocityField(nn.Module):
    """Velocity of a point at a time, from Fourier features."""

    def __init__(self, width: int = 128, bands: int = 5) -> None:
        super().__init__()
        self.register_buffer("scale", math.pi * 2.0 ** torch.arange(bands))
        self.net = nn.Sequential(
            nn.Linear(4 + 8 * bands, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 3),
        )

    def forward(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        where = torch.cat([x, t.expand(x.shape[0], 1)], -1)
        angle = (where[..., None] * self.scale).flatten(-2)
        return self.net(torch.cat([where, angle.sin(), angle.cos()], -1))


class Flow(nn.Module):
    def __init__(self, field: VelocityField) -> None:
        super().__init__()
        self.field = field

    def forward(self, x: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        """Positions (T, N, 3) of the points x (N, 3), which are given at times[0]."""
        return odeint_adjoint(self.field, x, times, rtol=1e-4, atol=1e-5, method="dopri5")


def chamfer(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    distance = torch.cdist(a, b)
    return distance.amin(-1).mean() + distance.amin(-2).mean()
