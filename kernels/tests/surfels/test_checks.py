from __future__ import annotations

import pytest
from tests.device import DEVICE, torch

from rocm3d_kernels.surfels.checks import checks


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_is_offered_agrees(tolerance):
    offered = list(checks(DEVICE))

    assert [name for name, *_ in offered][:2] == ["surfels image", "surfels alphas"]
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double().cpu(), wanted, **tolerance[name])
