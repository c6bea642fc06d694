"""Multi-scale deformable attention of any package, against grid_sample in float64."""

from __future__ import annotations

from typing import Any

LEVELS = ((8, 6), (4, 3))
HEADS, CHANNELS, QUERIES, POINTS = 4, 8, 20, 4


def check(session: Any) -> None:
    """Some sampling locations are outside the image, where the value is zero."""
    torch, device = session.torch, session.device
    package = session.modules[0]
    native = package if hasattr(package, "ms_deform_attn_forward") else session.submodule("_C")
    shapes = torch.tensor(LEVELS, device=device)
    sizes = shapes.prod(1)
    starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)[:-1]])
    value = session.random_normal(2, int(sizes.sum()), HEADS, CHANNELS, seed=1)
    locations = session.random_normal(2, QUERIES, HEADS, len(LEVELS), POINTS, 2, seed=2) * 0.4 + 0.5
    weights = session.random_normal(2, QUERIES, HEADS, len(LEVELS) * POINTS, seed=3).softmax(-1)
    weights = weights.view(2, QUERIES, HEADS, len(LEVELS), POINTS)
    got = session.run(lambda: native.ms_deform_attn_forward(value, shapes, starts, locations, weights, 64))
    expected = reference(torch, *(tensor.double().cpu() for tensor in (value, locations, weights)))
    session.check_close("forward", got, expected, "float32-deformable-attention")


def reference(torch: Any, value: Any, locations: Any, weights: Any) -> Any:
    """[batch, queries, heads * channels]: bilinear samples of each level, weighted and summed."""
    batch = value.shape[0]
    total = torch.zeros(batch, HEADS, CHANNELS, QUERIES, dtype=value.dtype)
    parts = value.split([height * width for height, width in LEVELS], 1)
    for level, (part, (height, width)) in enumerate(zip(parts, LEVELS, strict=True)):
        picture = part.permute(0, 2, 3, 1).reshape(batch * HEADS, CHANNELS, height, width)
        grid = locations[:, :, :, level].transpose(1, 2).flatten(0, 1) * 2 - 1
        sampled = torch.nn.functional.grid_sample(picture, grid, align_corners=False)
        weight = weights[:, :, :, level].transpose(1, 2).flatten(0, 1)[:, None]
        total += (sampled * weight).sum(-1).view(batch, HEADS, CHANNELS, QUERIES)
    return total.permute(0, 3, 1, 2).flatten(2)
