"""spconv: a submanifold convolution against the dense one at the same sites."""

from __future__ import annotations

from typing import Any

SIDE, INPUTS, OUTPUTS, KERNEL = 8, 4, 5, 3


def look(bench: Any) -> None:
    """A sixth of a small grid is filled. The layout of the weights differs between builds, and is seen by its shape."""
    import spconv.pytorch as spconv

    torch, device = bench.torch, bench.device
    filled = (bench.random(SIDE, SIDE, SIDE, seed=1) > 1).nonzero().int()
    sites = torch.cat([torch.zeros_like(filled[:, :1]), filled], 1).contiguous()
    values = bench.random(len(sites), INPUTS, seed=2)
    layer = spconv.SubMConv3d(INPUTS, OUTPUTS, KERNEL, padding=1, bias=False).to(device)
    shape = tuple(layer.weight.shape)
    weights = bench.random(*shape, seed=3)
    with torch.no_grad():
        layer.weight.copy_(weights)
    dense = as_dense(weights.double().cpu())
    bench.facts["weight_layout"] = list(shape)
    if dense is None:
        bench.not_run(f"weights of the shape {list(shape)} are not known here")
    given = spconv.SparseConvTensor(values, sites, [SIDE] * 3, 1)
    with torch.no_grad():
        got = bench.run(lambda: layer(given).features)
    z, y, x = filled.long().cpu().T
    grid = torch.zeros(1, INPUTS, SIDE, SIDE, SIDE, dtype=torch.float64)
    grid[0, :, z, y, x] = values.double().cpu().T
    wanted = torch.nn.functional.conv3d(grid, dense, padding=1)[0, :, z, y, x].T
    bench.agree("SubMConv3d", got, wanted, "float32-sparse-conv")


def as_dense(weights: Any) -> Any:
    """[out, in, z, y, x] of any layout that builds have."""
    cube, shape = (KERNEL,) * 3, tuple(weights.shape)
    if shape == (OUTPUTS, *cube, INPUTS):
        return weights.permute(0, 4, 1, 2, 3)
    if shape == (*cube, INPUTS, OUTPUTS):
        return weights.permute(4, 3, 0, 1, 2)
    if shape == (*cube, OUTPUTS, INPUTS):
        return weights.permute(3, 4, 0, 1, 2)
    if shape == (KERNEL**3, INPUTS, OUTPUTS):
        return weights.view(*cube, INPUTS, OUTPUTS).permute(4, 3, 0, 1, 2)
    return None
