from __future__ import annotations

import pytest

from rocm3d.knowledge.kernels import of_kernel


def test_a_name_that_no_pattern_fits_is_nobodys(knowledge):
    assert of_kernel("a_name_that_nobody_uses", knowledge.backends.values()) is None


def test_the_first_that_fits_wins(knowledge):
    first = knowledge.backends["rocm3d"]

    assert of_kernel("rocm3d_scale", [first, *knowledge.backends.values()]) is first


@pytest.mark.parametrize(
    ("name", "operation"),
    [("rocm3d_raster_forward", "raster"), ("rocm3d_attention_forward_kernel", "attention"), ("rocm3d_scale", "other")],
)
def test_kernels_of_ours_are_known_by_what_they_do(knowledge, name, operation):
    found = of_kernel(name, knowledge.backends.values())

    assert found is not None
    assert (found.operation, found.backend.startswith("rocm3d")) == (operation, True)


def test_every_name_that_was_seen_is_of_its_own_backend(knowledge):
    for backend in knowledge.backends.values():
        for name in backend.seen:
            found = of_kernel(name, knowledge.backends.values())
            assert found is not None
            assert found.backend == backend.backend, name
