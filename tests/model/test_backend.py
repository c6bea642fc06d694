from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.backend import Backend

FACT = {"checked": "2026-11-15", "confidence": "inferred", "sources": [{"where": "somewhere"}]}


def backend(**more) -> Backend:
    return Backend(
        **{"id": "b", "pattern": "k", "backend": "B", "operation": "raster", "vendor": "any", **FACT, **more}
    )


def test_pattern_that_misses_an_example_is_refused():
    with pytest.raises(ValidationError, match="does not match"):
        backend(seen=("other",))


@pytest.mark.parametrize(
    "more", [{"operation": "gemm"}, {"operation": "copy"}, {"operation": "other", "generic": True}]
)
def test_kernels_of_plain_torch_are_not_specific(more):
    assert backend(**more).is_specific is False


@pytest.mark.parametrize("operation", ["raster", "attention", "sparse", "other"])
def test_kernels_of_a_package_are_specific(operation):
    assert backend(operation=operation).is_specific is True


def test_kernels_that_torch_launches_are_marked_generic(knowledge):
    """Sorting and resampling in plain torch do not prove that an extension ran."""
    for name in ("void cub::DeviceRadixSortOnesweepKernel", "at::native::grid_sampler_2d_kernel", "rocprim::detail::k"):
        import re

        first = next(item for item in knowledge.backends.values() if re.search(item.pattern, name))
        assert first.is_specific is False, first.id
