"""Renders a soft ball and prints the opacity of the middle pixel."""
import torch

from raymarch import composite, march


def main() -> None:
    side = 64
    axis = torch.linspace(-1, 1, side, device="cuda")
    z, y, x = torch.meshgrid(axis, axis, axis, indexing="ij")
    grid = ((x * x + y * y + z * z).sqrt() < 0.6).to(torch.uint8)

    v, u = torch.meshgrid(axis, axis, indexing="ij")
    directions = torch.stack([u * 0.4, v * 0.4, torch.ones_like(u)], -1).view(-1, 3)
    directions = directions / directions.norm(dim=-1, keepdim=True)
    origins = torch.tensor([0.0, 0.0, -2.5], device="cuda").expand_as(directions)

    t, dt = march(origins, directions, grid, 0.1, 5.0, 0.02, 128)
    where = origins[:, None] + t[..., None] * directions[:, None]
    sigma = 8.0 * (where.norm(dim=-1) < 0.6).float()
    color = where * 0.5 + 0.5
    rgb, opacity = composite(sigma, color, dt)
    torch.cuda.synchronize()
    print(f"opacity in the middle: {opacity.view(side, side)[side // 2, side // 2]:.3f}")


if __name__ == "__main__":
    main()
