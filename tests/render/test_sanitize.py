from __future__ import annotations

import pytest

from rocm3d.render.sanitize import clean, clean_multiline


@pytest.mark.parametrize("odd", ["\x1b", "\r", "\x00", "\x9b", "\u202e", "\u200b", "\U000e0041", "\ud800"])
def test_what_a_terminal_would_obey_is_replaced(odd):
    assert clean(f"a{odd}b") == "a\N{REPLACEMENT CHARACTER}b"


def test_clean_keeps_what_can_be_read():
    assert clean("größe 日本 é\u0301 – [x] :smile:") == "größe 日本 é\u0301 – [x] :smile:"


def test_a_page_keeps_tabs_and_ends_of_lines():
    assert clean_multiline("a\tb\nc") == "a\tb\nc"
    assert clean_multiline("a\u202eb\x1b\u00e9") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}\u00e9"
