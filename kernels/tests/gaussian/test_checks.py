from __future__ import annotations

import pytest
from tests.device import DEVICE, torch

from rocm3d_kernels.gaussian.checks import checks


@pytest.mark.usefixtures("reference_on_cpu")
def test_checks_match_float64(tolerance):
    results = list(checks(DEVICE))

    assert [name for name, *_ in results][:2] == ["gaussian", "gaussian gradient of means"]
    for _, call, expected, name in results:
        torch.testing.assert_close(call().double().cpu(), expected, **tolerance[name])
