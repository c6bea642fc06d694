from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocm3d.model.ledger import Fix, link

DAY = date(2026, 11, 15)


@pytest.mark.parametrize(
    "text",
    [
        "", "javascript:alert(1)", "file:///etc/passwd", "github.com/a/b/pull/1", "https://", "https://a b/c",
        "https://me:secret@github.com/a/b", "https://x/\x1b[31m", "https://x/`id`", f"https://x/{'a' * 500}", "https://ü.de",
    ],
)  # fmt: skip
def test_what_is_no_link_is_refused(text):
    with pytest.raises(ValueError, match="is not a link"):
        link(text)


@pytest.mark.parametrize("state", ["merged", "refused"])
def test_a_decision_needs_a_link_that_shows_it(state):
    with pytest.raises(ValidationError, match="needs a link"):
        Fix(id="knn", dependency="knn", state=state, first=DAY, changed=DAY)


@given(st.text(max_size=60).map(lambda text: f"https://{text}"))
def test_no_link_holds_a_blank_a_control_character_or_a_name_before_the_host(text):
    try:
        found = link(text)
    except ValueError:
        return
    assert found.isprintable()
    assert not set(found) & set(" \t\"'`<>")
    assert "@" not in found.removeprefix("https://").partition("/")[0]


def test_a_fix_without_a_link_was_not_sent():
    fix = Fix(id="knn", dependency="knn", first=DAY, changed=DAY)

    assert not fix.sent
    assert fix.model_copy(update={"links": ("https://github.com/a/b/pull/1",)}).sent
