"""gsplat: two Gaussians on the optical axis, whose picture is known in closed form."""

from __future__ import annotations

from typing import Any

NATIVE = ("gsplat_cuda",)


def look(bench: Any) -> None:
    """The picture, its coverage, and the gradient by the colours."""
    from gsplat import rasterization
    from gsplat.cuda import _backend

    if _backend._C is None:
        bench.fall_back("its _C is None: the compiled part is missing")
    bench.facts["_C"] = str(getattr(_backend._C, "__file__", type(_backend._C)))
    torch, device, splats = bench.torch, bench.device, bench.reference("splats")
    size, focal = splats.SIZE, splats.FOCAL
    scene = splats.scene(torch, device)
    colours = torch.tensor(splats.COLOURS, device=device, requires_grad=True)
    camera = torch.tensor([[[focal, 0.0, size / 2], [0.0, focal, size / 2], [0.0, 0.0, 1.0]]], device=device)
    view = torch.eye(4, device=device)[None]

    def render() -> Any:
        drawn = rasterization(**scene, colors=colours, viewmats=view, Ks=camera, width=size, height=size)
        return drawn[0][0], drawn[1][0, ..., 0], torch.autograd.grad(drawn[0].sum(), colours)[0]

    picture, alpha, gradient = bench.run(render)
    splats.compare(bench, picture, gradient)
    bench.agree("alpha", alpha, splats.weights(torch).sum(0), "float32-splat-forward")
