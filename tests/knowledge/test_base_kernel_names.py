from __future__ import annotations

import pytest

from rocm3d.knowledge.base import backend_of_kernel


def test_unknown_kernel_has_no_backend(knowledge):
    assert backend_of_kernel("a_name_that_nobody_uses", knowledge.backends.values()) is None


def test_first_match_wins(knowledge):
    first = knowledge.backends["rocm3d"]

    assert backend_of_kernel("rocm3d_scale", [first, *knowledge.backends.values()]) is first


@pytest.mark.parametrize(
    ("name", "operation"),
    [("rocm3d_raster_forward", "raster"), ("rocm3d_attention_forward_kernel", "attention"), ("rocm3d_scale", "other")],
)
def test_own_kernels_are_identified(knowledge, name, operation):
    result = backend_of_kernel(name, knowledge.backends.values())

    assert result is not None
    assert (result.operation, result.backend.startswith("rocm3d")) == (operation, True)


def test_every_example_name_matches_its_backend(knowledge):
    for backend in knowledge.backends.values():
        for name in backend.seen:
            result = backend_of_kernel(name, knowledge.backends.values())
            assert result is not None
            assert result.backend == backend.backend, name
