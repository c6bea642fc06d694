"""python -m splat_trainer.train --scene data/garden"""
import argparse
import math
import pathlib

import numpy as np
import torch
from plyfile import PlyData
from torchmetrics.functional import structural_similarity_index_measure as ssim
from torchvision.utils import save_image
from tqdm import trange

from . import _C
from .model import Splats


def load_scene(folder: pathlib.Path, device: torch.device):
    data = np.load(folder / "cameras.npz")
    vertex = PlyData.read(str(folder / "points.ply"))["vertex"]
    points = np.stack([vertex["x"], vertex["y"], vertex["z"]], -1)
    put = lambda a: torch.as_tensor(np.asarray(a), dtype=torch.float32, device=device)
    return put(points), put(data["viewmats"]), put(data["Ks"]), put(data["images"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scene", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"))
    parser.add_argument("--steps", type=int, default=7000)
    args = parser.parse_args()

    assert torch.cuda.is_available(), "a CUDA device is required"
    device = torch.device("cuda:0")
    torch.cuda.set_device(device)
    torch.backends.cuda.matmul.allow_tf32 = True
    args.out.mkdir(parents=True, exist_ok=True)

    points, viewmats, Ks, images = load_scene(args.scene, device)
    height, width = images.shape[1:3]
    model = Splats(points, len(images)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    start.record()
    for step in trange(args.steps):
        view = step % len(images)
        image = model(view, viewmats[view], Ks[view], width, height)
        pair = [t.permute(2, 0, 1)[None] for t in (image, images[view])]
        loss = 0.8 * (image - images[view]).abs().mean() + 0.2 * (1 - ssim(*pair, data_range=1.0))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 1000 == 999:
            shown, visible = model.preview(view, viewmats[view], Ks[view], width, height)
            mse = _C.squared_error(shown, images[view].contiguous()).item() / shown.numel()
            print(f"step {step + 1}: PSNR {-10 * math.log10(mse):.2f}, {visible} visible")
            save_image(shown.permute(2, 0, 1), args.out / f"{step + 1:06d}.png")
    stop.record()
    torch.cuda.synchronize()
    print(f"{start.elapsed_time(stop) / 1000:.1f} s, "
          f"{torch.cuda.max_memory_allocated() / 2**30:.2f} GiB at most")
    torch.save(model.state_dict(), args.out / "splats.pt")


if __name__ == "__main__":
    main()
