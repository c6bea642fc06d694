from __future__ import annotations

import pytest

from rocm3d.plan.routes import route_problem


@pytest.fixture
def problem_of(make):
    """A stack and a GPU."""
    return make.stack("s", rocm="7.1", torch="2.9.0", python="3.12"), make.knowledge().gpu("gfx942")


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"rocm": "<7"}, "needs ROCm <7; this stack has 7.1"),
        ({"rocm": ">=7.2"}, "needs ROCm >=7.2; this stack has 7.1"),
        ({"torch": "<2.9"}, "needs torch <2.9; this stack has 2.9.0"),
        ({"python": "<3.12"}, "needs Python <3.12; this stack has 3.12"),
        ({"gfx": ("gfx1100", "gfx1201")}, "supports gfx1100, gfx1201; this GPU is gfx942"),
        ({"products": ("mi325x",)}, "supports mi325x; this GPU is mi300x"),
        ({"moves": {"torch": "2.9.1"}}, "installs torch 2.9.1; this stack has 2.9.0"),
        ({"rocm": "<7", "torch": "<2", "gfx": ("gfx1100",)}, "needs ROCm <7; this stack has 7.1"),
    ],
)
def test_first_reason_why_a_route_does_not_fit(make, problem_of, limits, reason):
    result = route_problem(make.route("r", **limits), *problem_of)

    assert result.reason == reason
    assert result.would_need


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"rocm": ">=7,<8", "torch": "==2.9.*", "python": ">=3.10"},
        {"rocm": ">=7.1"},
        {"moves": {"torch": "2.9.0"}},
        {"gfx": ("gfx1100", "gfx942")},
        {"products": ("mi325x", "mi300x")},
    ],
)
def test_fits(make, problem_of, limits):
    assert route_problem(make.route("r", **limits), *problem_of) is None


def test_versions_are_compared_as_versions(make, problem_of):
    """7.10 is newer than 7.9."""
    stack = make.stack("s", rocm="7.10")

    assert route_problem(make.route("r", rocm=">=7.9"), stack, problem_of[1]) is None
