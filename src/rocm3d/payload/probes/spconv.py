"""spconv: a submanifold convolution against the dense convolution at the same sites."""

from __future__ import annotations

from typing import Any

SIDE, INPUTS, OUTPUTS, KERNEL = 8, 4, 5, 3


def check(session: Any) -> None:
    """Fills a sixth of a small grid. The weight layout differs between builds and is detected by its shape."""
    import spconv.pytorch as spconv

    torch, device = session.torch, session.device
    filled = (session.random_normal(SIDE, SIDE, SIDE, seed=1) > 1).nonzero().int()
    sites = torch.cat([torch.zeros_like(filled[:, :1]), filled], 1).contiguous()
    values = session.random_normal(len(sites), INPUTS, seed=2)
    layer = spconv.SubMConv3d(INPUTS, OUTPUTS, KERNEL, padding=1, bias=False).to(device)
    shape = tuple(layer.weight.shape)
    weights = session.random_normal(*shape, seed=3)
    with torch.no_grad():
        layer.weight.copy_(weights)
    dense = as_dense(weights.double().cpu())
    session.facts["weight_layout"] = list(shape)
    if dense is None:
        session.not_run(f"unknown weight layout {list(shape)}")
    sparse = spconv.SparseConvTensor(values, sites, [SIDE] * 3, 1)
    with torch.no_grad():
        got = session.run(lambda: layer(sparse).features)
    z, y, x = filled.long().cpu().T
    grid = torch.zeros(1, INPUTS, SIDE, SIDE, SIDE, dtype=torch.float64)
    grid[0, :, z, y, x] = values.double().cpu().T
    expected = torch.nn.functional.conv3d(grid, dense, padding=1)[0, :, z, y, x].T
    session.check_close("SubMConv3d", got, expected, "float32-sparse-conv")


def as_dense(weights: Any) -> Any:
    """Convert a known weight layout to [out, in, z, y, x]; None for an unknown one."""
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
