"""A card does not repeat facts of its target, and a price is a dated range."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.card import Card, Price

SOURCE = {"where": "a public place"}
FACT = {"checked": "2026-11-15", "confidence": "inferred", "sources": [SOURCE]}
AMD = {"id": "mi300x", "title": "MI300X", "vendor": "amd", "memory_kind": "HBM3", **FACT}
NVIDIA = {
    "id": "h100", "title": "H100", "vendor": "nvidia", "memory_kind": "HBM3", "memory_gb": 80, "fp8": "ocp",
    "matrix": "tensor", **FACT,
}  # fmt: skip
PRICE = {"way": "rent", "low": 1.5, "high": 6, "currency": "USD", "known": "2026-05-18", "source": SOURCE}


@pytest.mark.parametrize("key", ["memory_gb", "fp8", "matrix"])
def test_nvidia_card_needs_memory_fp8_and_matrix(key):
    with pytest.raises(ValidationError, match=f"{key} is missing"):
        Card.model_validate({name: value for name, value in NVIDIA.items() if name != key})


@pytest.mark.parametrize(("key", "value"), [("memory_gb", 192), ("fp8", "fnuz"), ("matrix", "none")])
def test_an_amd_card_does_not_repeat_its_target(key, value):
    with pytest.raises(ValidationError, match=f"{key} belongs in the record of the target"):
        Card.model_validate({**AMD, key: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [("vendor", "intel"), ("devices", 0), ("bandwidth_gbs", 0), ("watts", -1), ("memory_gb", 0), ("fp8", "e4m3")],
)
def test_a_wrong_value_is_refused_by_key(field, value):
    with pytest.raises(ValidationError, match=f"(?m)^{field}"):
        Card.model_validate({**NVIDIA, field: value})


@pytest.mark.parametrize(
    "wrong", [{"low": 7}, {"low": 0}, {"currency": "$"}, {"way": "lease"}, {"source": None}, {"known": "soon"}]
)
def test_a_price_without_order_date_or_source_is_refused(wrong):
    with pytest.raises(ValidationError):
        Price.model_validate({**PRICE, **wrong})


def test_unknown_value_is_none():
    card = Card.model_validate(AMD)

    assert card.is_amd
    assert (card.bandwidth_gbs, card.bf16, card.watts, card.cloud, card.prices) == (None, None, None, None, ())


def test_a_price_may_be_one_figure():
    assert Price.model_validate({**PRICE, "high": 1.5}).low == 1.5
    assert not Card.model_validate({**NVIDIA, "prices": [PRICE]}).is_amd
