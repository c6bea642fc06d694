from __future__ import annotations

import itertools

from rocm3d_kernels import boxes
from tests.device import torch
from tests.properties import given, some

SIDE, ACROSS, DOWN = 4, 3, 2
ROWS = some.lists(
    some.tuples(
        some.integers(-4, 16), some.integers(-4, 12), some.integers(0, 5), some.integers(0, 5), some.integers(1, 9),
        some.integers(0, 1),
    ),
    max_size=6,
)  # fmt: skip


def test_a_box_without_size_touches_nothing():
    nothing = torch.tensor([[5.0, 5]]), torch.tensor([[0, 3]]), torch.ones(1), torch.zeros(1, dtype=torch.long)
    counts, keys, rows = boxes.tile_pairs(*nothing, SIDE, (ACROSS, DOWN))

    assert counts.tolist() == [0]
    assert len(keys) == len(rows) == 0


@given(ROWS)
def test_lists_hold_what_touches_each_tile_nearest_first(drawn):
    numbers = torch.tensor(drawn, dtype=torch.float32).view(-1, 6)
    centres, radii, depths, images = numbers[:, :2], numbers[:, 2:4].int(), numbers[:, 4], numbers[:, 5].long()
    counts, keys, rows = boxes.tile_pairs(centres, radii, depths, images, SIDE, (ACROSS, DOWN))
    begins = boxes.tile_offsets(keys, 2, (ACROSS, DOWN))
    edges = [*begins.flatten().tolist(), len(rows)]

    lists = {}
    for tile, (start, end) in enumerate(itertools.pairwise(edges)):
        lists[divmod(tile, ACROSS * DOWN)] = rows[start:end].tolist()
    for (image, tile), listed in lists.items():
        left, top = tile % ACROSS * SIDE, tile // ACROSS * SIDE
        expected = [
            row
            for row, (x, y, wide, high, _, owner) in enumerate(drawn)
            if owner == image and wide and high
            and x - wide < left + SIDE and x + wide > left and y - high < top + SIDE and y + high > top
        ]  # fmt: skip
        assert listed == sorted(expected, key=lambda row: drawn[row][4])
    assert counts.sum().item() == len(rows)
