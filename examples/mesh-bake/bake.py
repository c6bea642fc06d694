import argparse
import pathlib

import numpy as np
import torch
from PIL import Image

from mesh_bake.fill import fill_holes
from mesh_bake.matte import cut_out, make_session
from mesh_bake.raster import Rasterizer, check_mesh, sample


def face_normals(vertices, faces):
    a, b, c = (vertices[faces[:, i].long()] for i in range(3))
    return torch.nn.functional.normalize(torch.cross(b - a, c - a, dim=-1), dim=-1)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("mesh", "photos", "cameras", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--size", type=int, default=1024)
    args = parser.parse_args()

    mesh, cameras = np.load(args.mesh), np.load(args.cameras)
    put = lambda a, t=torch.float32: torch.as_tensor(a, dtype=t).cuda()
    vertices, uvs = put(mesh["vertices"]), put(mesh["uvs"])
    faces, uv_faces = put(mesh["faces"], torch.int32), put(mesh["uv_faces"], torch.int32)
    check_mesh(vertices, faces)

    # Where each texel lies in space: the mesh drawn in its own uv square.
    raster = Rasterizer()
    flat = torch.cat([uvs * 2 - 1, torch.zeros_like(uvs[:, :1]), torch.ones_like(uvs[:, :1])], 1)
    atlas = raster(flat, uv_faces, (args.size, args.size))
    used = atlas[0, ..., 3] > 0
    position = raster.interpolate(vertices, atlas, faces)
    triangle = (atlas[0, ..., 3].long() - 1).clamp(min=0)
    normal = face_normals(vertices, faces)[triangle]

    session = make_session()
    total = torch.zeros(args.size, args.size, 3, device="cuda")
    weight = torch.zeros(args.size, args.size, 1, device="cuda")
    photos = sorted(p for p in args.photos.iterdir() if p.suffix.lower() in (".png", ".jpg"))
    for path, mvp, eye in zip(photos, cameras["mvp"], cameras["position"]):
        photo = put(cut_out(Image.open(path), session)).flip(0)
        mvp, eye = put(mvp), put(eye)
        project = lambda p: torch.nn.functional.pad(p, (0, 1), value=1.0) @ mvp.T
        seen = raster(project(vertices), faces, photo.shape[:2])
        depth = seen[0, ..., 2:3]
        clip = project(position)
        place = clip[..., :3] / clip[..., 3:].clamp(min=1e-6)
        uv = place[..., :2] * 0.5 + 0.5
        facing = (torch.nn.functional.normalize(eye - position, dim=-1) * normal).sum(-1, True)
        visible = (place[..., 2:] <= sample(depth, uv) + 1e-3) & (place.abs() < 1).all(-1, True)
        pixel = sample(photo, uv)
        w = facing.clamp(min=0) ** 2 * visible * pixel[..., 3:] * used[..., None]
        total += w * pixel[..., :3]
        weight += w
    texture = fill_holes(total / weight.clamp(min=1e-6), weight[..., 0] > 1e-4)
    torch.cuda.synchronize()
    Image.fromarray((texture.flip(0).clamp(0, 1) * 255).byte().cpu().numpy()).save(args.out)


if __name__ == "__main__":
    main()
