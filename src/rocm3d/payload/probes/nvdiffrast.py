"""nvdiffrast: the pixels that a triangle covers, and an interpolated attribute.

A rasterizer with a broken coarse stage runs without an error and covers no pixel; the count detects that.
"""

from __future__ import annotations

from typing import Any

NATIVE = ("_nvdiffrast_c", "nvdiffrast_plugin", "nvdiffrast_plugin_gl")
SIZE = 64


def check(session: Any) -> None:
    """The attribute is the position, so that interpolation must return the centre of each covered pixel."""
    import nvdiffrast.torch as dr

    torch, device, triangle = session.torch, session.device, session.reference("triangle")
    position = torch.tensor([[[x, y, 0.5, 1.0] for x, y in triangle.CORNERS]], device=device)
    faces = torch.tensor([[0, 1, 2]], dtype=torch.int32, device=device)
    context = dr.RasterizeCudaContext(device=device)
    raster = session.run(lambda: dr.rasterize(context, position, faces, resolution=[SIZE, SIZE])[0])
    inside = triangle.inside(torch, SIZE)  # the first row is the lowest, as in OpenGL
    session.check_equal("covered pixels", int((raster[..., 3] > 0).sum()), int(inside.sum()))
    session.check_close("coverage", raster[0, ..., 3] > 0, inside, "int-exact")
    where = position[..., :2].contiguous()
    across = session.run(lambda: dr.interpolate(where, raster, faces)[0])
    centres = triangle.centres(torch, SIZE)
    x, y = centres[None, :].expand(SIZE, SIZE), centres[:, None].expand(SIZE, SIZE)
    session.check_close(
        "interpolation", across[0], torch.stack([x, y], -1) * inside[..., None], "float32-mesh-attributes"
    )
