"""The page of a scan."""

from __future__ import annotations

from rocm3d.render.html import render

EVIL = "<img src=x onerror=1>"


def test_scan_page_loads_nothing_and_is_balanced(make, read):
    bad = make.finding(path=EVIL, message=EVIL, hint=EVIL, family=EVIL)
    text = render(make.scan(bad, repository=EVIL, skipped=[(EVIL, EVIL)]))
    page = read(text)

    assert (page.open, page.faults) == ([], [])
    assert not {"script", "img", "link"} & set(page.tags)
    addresses = [value for name, value in page.attributes if name in ("src", "href", "srcset", "action", "data")]
    assert [value for value in addresses if not value.startswith("#")] == []
    assert EVIL not in text


def test_scan_page_is_free_of_control_characters(make):
    odd = "a\x1b[31m\u202eb"
    text = render(make.scan(make.finding(path=odd, message=odd, hint=odd), repository=odd, skipped=[(odd, odd)]))

    assert "\x1b" not in text
    assert "\u202e" not in text


def test_scan_page_is_grouped_and_counts(make, read):
    findings = (make.finding(family="attention", severity="warning"), make.finding(family="native-op"))
    text = render(make.scan(*findings, skipped=[("a.bin", "holds NUL bytes")]).model_copy(update={"known": 3}))
    words = read(text).text

    assert words.index("native-op: 1 error") < words.index("attention: 1 warning")
    assert "<li><b>1</b>error</li>" in text
    assert "<li><b>0</b>notes</li>" in text
    assert "3known from the baseline (hidden)" in words
    assert "a.bin holds NUL bytes" in words
    assert '<p class="outcome failed">' in text


def test_scan_page_of_nothing(make):
    text = render(make.scan())

    assert "No findings." in text
    assert '<p class="outcome passed">' in text
