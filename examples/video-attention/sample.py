import argparse

import torch
from tqdm import trange

from video_attention import VideoTransformer


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--steps", type=int, default=8)
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    model = VideoTransformer().to("cuda", torch.bfloat16).eval()
    model = torch.compile(model, mode="reduce-overhead")

    lens = [7, 12]
    text = torch.randn(sum(lens), 512, device="cuda", dtype=torch.bfloat16)
    z = torch.randn(2, args.frames, 4, args.size, args.size, device="cuda", dtype=torch.bfloat16)
    for i in trange(args.steps):
        t = torch.full((2,), 1 - i / args.steps, device="cuda")
        z = z - model(z, t, text, lens).clone() / args.steps
    print(tuple(z.shape), f"std {z.float().std():.3f}")


if __name__ == "__main__":
    main()
