"""diff-gaussian-rasterization: two Gaussians on the optical axis, whose image is known in closed form."""

from __future__ import annotations

from typing import Any


def check(session: Any) -> None:
    """Checks the image and the gradient with respect to the colours."""
    from diff_gaussian_rasterization import GaussianRasterizationSettings, GaussianRasterizer

    torch, device, splats = session.torch, session.device, session.reference("splats")
    known = _settings(torch, device, splats)
    unknown = [name for name in GaussianRasterizationSettings._fields if name not in known]
    if unknown:
        session.not_run(f"a variant with unknown settings: {', '.join(unknown)}")
    settings = GaussianRasterizationSettings(**{name: known[name] for name in GaussianRasterizationSettings._fields})
    rasterizer = GaussianRasterizer(raster_settings=settings)
    scene = splats.scene(torch, device)
    colours = torch.tensor(splats.COLOURS, device=device, requires_grad=True)

    def render() -> Any:
        picture = rasterizer(
            means3D=scene["means"],
            means2D=torch.zeros_like(scene["means"]),
            opacities=scene["opacities"][:, None],
            scales=scene["scales"],
            rotations=scene["quats"],
            colors_precomp=colours,
        )[0]
        return picture, torch.autograd.grad(picture.sum(), colours)[0]

    picture, gradient = session.run(render)
    splats.compare(session, picture.permute(1, 2, 0), gradient)


def _settings(torch: Any, device: str, splats: Any) -> dict[str, Any]:
    """Settings of all Inria versions."""
    tangent = splats.SIZE / (2 * splats.FOCAL)
    projection = torch.zeros(4, 4, device=device)  # for row vectors: point @ matrix
    projection[0, 0] = projection[1, 1] = 1 / tangent
    projection[2, 2], projection[3, 2], projection[2, 3] = 1.0, -0.01, 1.0
    return {
        "image_height": splats.SIZE, "image_width": splats.SIZE, "tanfovx": tangent, "tanfovy": tangent,
        "bg": torch.zeros(3, device=device), "scale_modifier": 1.0, "viewmatrix": torch.eye(4, device=device),
        "projmatrix": projection, "sh_degree": 0, "campos": torch.zeros(3, device=device),
        "prefiltered": False, "debug": False, "antialiasing": False,
    }  # fmt: skip
