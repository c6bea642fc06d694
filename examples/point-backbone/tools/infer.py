import argparse

import torch

from point_backbone import PointBackbone


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=60000)
    parser.add_argument("--grid", type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(0)
    coord = torch.rand(args.points, 3, device="cuda") * 4
    feat = torch.cat([coord, torch.rand_like(coord)], 1)
    batch = torch.arange(args.points, device="cuda") * 2 // args.points
    model = PointBackbone().cuda().eval()
    with torch.inference_mode(), torch.cuda.amp.autocast():
        point = model(coord, feat, batch, args.grid)
    print({k: tuple(v.shape) for k, v in point.items()})


if __name__ == "__main__":
    main()
