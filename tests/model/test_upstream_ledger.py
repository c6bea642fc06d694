from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocm3d.model.upstream import Fix, check_public_url

DAY = date(2026, 11, 15)


@pytest.mark.parametrize(
    "text",
    [
        "", "javascript:alert(1)", "file:///etc/passwd", "github.com/a/b/pull/1", "https://", "https://a b/c",
        "https://me:secret@github.com/a/b", "https://x/\x1b[31m", "https://x/`id`", f"https://x/{'a' * 500}", "https://ü.de",
    ],
)  # fmt: skip
def test_invalid_url_is_refused(text):
    with pytest.raises(ValueError, match="is not a link"):
        check_public_url(text)


@pytest.mark.parametrize("state", ["merged", "refused"])
def test_decided_fix_needs_a_link(state):
    with pytest.raises(ValidationError, match="needs a link"):
        Fix(id="knn", dependency="knn", state=state, first=DAY, changed=DAY)


@given(st.text(max_size=60).map(lambda text: f"https://{text}"))
def test_accepted_url_has_no_whitespace_control_character_or_user(text):
    try:
        result = check_public_url(text)
    except ValueError:
        return
    assert result.isprintable()
    assert not set(result) & set(" \t\"'`<>")
    assert "@" not in result.removeprefix("https://").partition("/")[0]


def test_fix_without_a_link_has_none():
    assert Fix(id="knn", dependency="knn", first=DAY, changed=DAY).links == ()
