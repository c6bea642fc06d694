"""The default product of a target is one of its products."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.target import Target

RAW = {
    "gfx": "gfx942", "title": "CDNA 3", "architecture": "cdna", "default_product": "mi300x", "wave_size": 64,
    "fp8": "fnuz", "matrix": "mfma", "lds_kib": 64, "rocm": ">=6.0", "checked": "2026-11-15", "confidence": "reported",
    "sources": [{"where": "a public place"}],
    "products": [{"id": "mi300x", "title": "MI300X", "vram_gb": 192}, {"id": "mi300a", "title": "MI300A"}],
}  # fmt: skip


def test_default_that_is_none_of_the_products_is_refused():
    with pytest.raises(ValidationError, match="default_product 'mi355x' is not in products"):
        Target.model_validate({**RAW, "default_product": "mi355x"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("wave_size", 48),
        ("architecture", "fermi"),
        ("fp8", "e4m3"),
        ("matrix", "tensor"),
        ("products", []),
        ("rocm", "6"),
    ],
)
def test_wrong_value_is_refused_by_key(field, value):
    with pytest.raises(ValidationError, match=f"(?m)^{field}"):
        Target.model_validate({**RAW, field: value})


def test_product_is_found_by_id():
    target = Target.model_validate(RAW)
    assert target.product("mi300x").vram_gb == 192
    assert target.product("mi300a").vram_gb is None
