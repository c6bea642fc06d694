import argparse

import torch
from torchmetrics import MeanMetric
from tqdm import trange

from flowfield import Flow, VelocityField
from flowfield.model import chamfer


def swirl(x: torch.Tensor, t: float) -> torch.Tensor:
    """The motion to learn: a turn about z that is faster near the axis."""
    angle = t * torch.exp(-x[:, :2].norm(dim=-1))
    c, s = angle.cos(), angle.sin()
    return torch.stack([c * x[:, 0] - s * x[:, 1], s * x[:, 0] + c * x[:, 1], x[:, 2]], -1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--points", type=int, default=512)
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    flow = Flow(VelocityField()).to(device)
    optimizer = torch.optim.AdamW(flow.parameters(), lr=1e-3)
    times = torch.linspace(0, 1, 4, device=device)
    mean = MeanMetric().to(device)
    for step in trange(args.steps):
        x = torch.randn(args.points, 3, device=device)
        path = flow(x, times)
        loss = sum(chamfer(path[i], swirl(x, float(t))) for i, t in enumerate(times) if i)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean.update(loss.detach())
        if step % 100 == 99:
            print(f"step {step + 1}: {mean.compute():.4f}")
            mean.reset()


if __name__ == "__main__":
    main()
