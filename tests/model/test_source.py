"""Validation of version ranges, identifiers, gfx ids and sources."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from rocm3d.model.source import Fact, Gfx, Identifier, Range, Source

GFX: TypeAdapter[str] = TypeAdapter(Gfx)
IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)
RANGE: TypeAdapter[str] = TypeAdapter(Range)


@pytest.mark.parametrize("text", ["6.4", "=>6", "newest", ">=6.4 <7", ">=", "~7"])
def test_text_that_is_no_range_is_refused_with_an_example(text):
    with pytest.raises(ValidationError, match=r"is not a version range such as '>=6\.4,<7'"):
        RANGE.validate_python(text)


@pytest.mark.parametrize(
    "text", ["", "942", "gfx", "gfx9", "gfx90", "GFX942", "gfx942 ", "gfx942\n", "gfx94g", "gfx110000"]
)
def test_text_that_is_no_gfx_id_is_refused(text):
    with pytest.raises(ValidationError):
        GFX.validate_python(text)


@pytest.mark.parametrize("text", ["", "MI300X", "a b", "-a", ".a", "a/b", "ä", "a\n"])
def test_text_that_is_no_identifier_is_refused(text):
    with pytest.raises(ValidationError):
        IDENTIFIER.validate_python(text)


@pytest.mark.parametrize("where", ["", "web"])
def test_empty_source_is_refused(where):
    with pytest.raises(ValidationError, match="where"):
        Source(where=where)


def test_fact_without_a_source_is_refused():
    with pytest.raises(ValidationError, match="sources"):
        Fact.model_validate({"checked": "2026-11-15", "confidence": "verified", "sources": []})


@pytest.mark.parametrize("text", ["", ">=6.4", ">=6.4,<7", "==7.0.*", "~=2.8"])
def test_range_is_unchanged(text):
    assert RANGE.validate_python(text) == text


@pytest.mark.parametrize(
    "text", ["gfx803", "gfx906", "gfx908", "gfx90a", "gfx90c", "gfx942", "gfx950", "gfx1100", "gfx1151"]
)
def test_real_gfx_id_is_accepted(text):
    assert GFX.validate_python(text) == text


@pytest.mark.parametrize("text", ["mi300x", "rx-7900-xtx", "rocm-7.0", "3dgs", "a_b"])
def test_identifier_is_accepted(text):
    assert IDENTIFIER.validate_python(text) == text
