from __future__ import annotations

import pytest

from rocm3d_kernels.attention.checks import checks
from tests.device import DEVICE, torch


@pytest.mark.usefixtures("reference_on_cpu")
def test_what_is_offered_agrees(tolerance):
    offered = list(checks(DEVICE))

    assert len(offered) == 2
    for _, call, wanted, name in offered:
        torch.testing.assert_close(call().double().cpu(), wanted, **tolerance[name])
