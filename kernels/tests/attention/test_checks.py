from __future__ import annotations

import pytest

from rocm3d_kernels.attention.checks import checks
from tests.device import DEVICE, torch


@pytest.mark.usefixtures("reference_on_cpu")
def test_checks_agree_with_the_reference(tolerance):
    cases = list(checks(DEVICE))

    assert len(cases) == 2
    for _, call, expected, name in cases:
        torch.testing.assert_close(call().double().cpu(), expected, **tolerance[name])
