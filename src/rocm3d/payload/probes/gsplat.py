"""gsplat: two Gaussians on the optical axis, whose image is known in closed form."""

from __future__ import annotations

from typing import Any

NATIVE = ("gsplat_cuda",)


def check(session: Any) -> None:
    """Checks the image, its alpha, and the gradient with respect to the colours."""
    from gsplat import rasterization
    from gsplat.cuda import _backend

    if _backend._C is None:
        session.fall_back("its compiled extension is missing (_C is None)")
    session.facts["_C"] = str(getattr(_backend._C, "__file__", type(_backend._C)))
    torch, device, splats = session.torch, session.device, session.reference("splats")
    size, focal = splats.SIZE, splats.FOCAL
    scene = splats.scene(torch, device)
    colours = torch.tensor(splats.COLOURS, device=device, requires_grad=True)
    camera = torch.tensor([[[focal, 0.0, size / 2], [0.0, focal, size / 2], [0.0, 0.0, 1.0]]], device=device)
    view = torch.eye(4, device=device)[None]

    def render() -> Any:
        drawn = rasterization(**scene, colors=colours, viewmats=view, Ks=camera, width=size, height=size)
        return drawn[0][0], drawn[1][0, ..., 0], torch.autograd.grad(drawn[0].sum(), colours)[0]

    picture, alpha, gradient = session.run(render)
    splats.compare(session, picture, gradient)
    session.check_close("alpha", alpha, splats.weights(torch).sum(0), "float32-splat-forward")
