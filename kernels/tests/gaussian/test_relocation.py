from __future__ import annotations

import math

import pytest
from tests.device import torch

from rocm3d_kernels.gaussian.relocation import compute_relocation

MOST = 12
BINOMS = torch.tensor([[math.comb(n, k) for k in range(MOST)] for n in range(MOST)], dtype=torch.float32)


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (((4, 1), (4, 3), (4,)), r"opacities must be \[N\]"),
        (((4,), (4, 2), (4,)), r"scales \[N, 3\]"),
        (((4,), (4, 3), (5,)), r"ratios \[N\]"),
    ],
)
def test_wrong_shapes_are_refused(shapes, text):
    with pytest.raises(ValueError, match=text):
        compute_relocation(*[torch.ones(shape) for shape in shapes], BINOMS)


def test_a_table_that_is_no_square_is_refused():
    with pytest.raises(ValueError, match="binoms must be"):
        compute_relocation(torch.ones(1), torch.ones(1, 3), torch.ones(1), torch.ones(2, 3))


def test_empty_input_gives_empty_output():
    opacities, scales = compute_relocation(torch.ones(0), torch.ones(0, 3), torch.ones(0), BINOMS)

    assert (opacities.shape, scales.shape) == ((0,), (0, 3))


@pytest.mark.parametrize("times", [1, 2, 3, 7, MOST])
def test_the_formula_term_by_term(times):
    opacity, scale = 0.7, 0.3
    opacities, scales = compute_relocation(
        torch.tensor([opacity]).double(), torch.full((1, 3), scale).double(), torch.tensor([times]), BINOMS.double()
    )
    new = 1 - (1 - opacity) ** (1 / times)
    total = sum(
        math.comb(i - 1, k) * (-1) ** k / math.sqrt(k + 1) * new ** (k + 1)
        for i in range(1, times + 1)
        for k in range(i)
    )

    assert opacities.item() == pytest.approx(new, rel=1e-6)
    assert scales[0].tolist() == pytest.approx([scale * opacity / total] * 3, rel=1e-6)


def test_transmittance_is_unchanged_and_one_copy_stays_one():
    before = torch.tensor([0.2, 0.9, 0.0])
    times = torch.tensor([1, 5, 9])
    opacities, scales = compute_relocation(before, torch.ones(3, 3), times, BINOMS)

    torch.testing.assert_close((1 - opacities) ** times, 1 - before)
    assert scales[0].tolist() == scales[2].tolist() == [1, 1, 1]


def test_ratios_outside_of_the_table_are_cut_and_left_as_they_were():
    ratios = torch.tensor([0, 99])
    opacities, _ = compute_relocation(torch.full((2,), 0.5), torch.ones(2, 3), ratios, BINOMS)

    torch.testing.assert_close(opacities, torch.tensor([0.5, 1 - 0.5 ** (1 / MOST)]))
    assert ratios.tolist() == [0, 99]
