"""nvdiffrast: the pixels of a triangle against its edges, and an attribute across it.

A rasterizer whose coarse stage emits nothing runs, and covers no pixel: that is what the count is for.
"""

from __future__ import annotations

from typing import Any

NATIVE = ("_nvdiffrast_c", "nvdiffrast_plugin", "nvdiffrast_plugin_gl")
SIZE = 64


def look(bench: Any) -> None:
    """The attribute is the position itself, so that it must come out as the centre of each covered pixel."""
    import nvdiffrast.torch as dr

    torch, device, triangle = bench.torch, bench.device, bench.reference("triangle")
    position = torch.tensor([[[x, y, 0.5, 1.0] for x, y in triangle.CORNERS]], device=device)
    faces = torch.tensor([[0, 1, 2]], dtype=torch.int32, device=device)
    context = dr.RasterizeCudaContext(device=device)
    raster = bench.run(lambda: dr.rasterize(context, position, faces, resolution=[SIZE, SIZE])[0])
    inside = triangle.inside(torch, SIZE)  # the first row is the lowest, as in OpenGL
    bench.expect("covered pixels", int((raster[..., 3] > 0).sum()), int(inside.sum()))
    bench.agree("coverage", raster[0, ..., 3] > 0, inside, "int-exact")
    where = position[..., :2].contiguous()
    across = bench.run(lambda: dr.interpolate(where, raster, faces)[0])
    centres = triangle.centres(torch, SIZE)
    x, y = centres[None, :].expand(SIZE, SIZE), centres[:, None].expand(SIZE, SIZE)
    bench.agree("interpolation", across[0], torch.stack([x, y], -1) * inside[..., None], "float32-mesh-attributes")
