from __future__ import annotations

import pytest

# A fake kernels package with one check, whose reference is the numbers from 0 to 11.
FAKE = """
import torch
def checks(device):
    wanted = torch.arange(12.).reshape(3, 4)
    return [("numbers", lambda: {got}, wanted, "float32-operator")]
"""


@pytest.fixture
def check(package, run_probe):
    def run(got: str) -> dict:
        package("rocm3d_kernels", __init__=FAKE.format(got=got))
        (check_result,) = run_probe("rocm3d_kernels", "rocm3d_kernels")["checks"]
        return check_result

    return run


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        ("torch.arange(12.)", "has the shape [12], not [3, 4]"),
        ("torch.zeros(3, 4)", "computes nothing: the result is all zero"),
        ("wanted / (wanted != 5)", "1 of 12 elements are not finite"),
        ("wanted * float('nan')", "12 of 12 elements are not finite"),
        ("wanted + (wanted == 7)", "is 8.0 at [1, 3], not 7.0"),
    ],
)
def test_difference_is_described(check, got, reason):
    check_result = check(got)

    assert (check_result["agrees"], check_result["reason"]) == (False, reason)


def test_agreement_has_its_maximum_error(check):
    check_result = check("wanted + 5e-5 * (wanted == 7)")

    assert check_result["agrees"] is True
    assert check_result["max_error"] == pytest.approx(5e-5, rel=0.05)
    assert check_result["worst"]["index"] == [1, 3]
    assert check_result["tolerance"] == "float32-operator"


def test_unknown_tolerance_is_an_error(package, run_probe):
    package("rocm3d_kernels", __init__=FAKE.format(got="wanted").replace("float32-operator", "float32-nonsense"))

    answer = run_probe("rocm3d_kernels", "rocm3d_kernels")

    assert answer["outcome"] == "broken"
    assert "float32-nonsense" in answer["reason"]
