from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.base import Document
from rocm3d.render.markdown import code, escape, render

CONTROL = "a\x1b[31mred\x07\r\u202ertl\u2066\u200bzero\x9b1m\U000e0041tag"
NEVER = ["\x1b", "\x07", "\r", "\u202e", "\u2066", "\u200b", "\x9b", "\U000e0041"]
EVIL = "x|y\n# big <img src=x onerror=1> [a](http://b) ![i](j) `c` **d** @somebody #12 $m$ www.e.f \\| &lt; ~~g~~"


def cells(line: str) -> list[str]:
    """The cells of a row, split at every unescaped pipe."""
    return re.split(r"(?<!\\)\|", line)[1:-1]


def documents(make, text):
    bad = make.finding(path=text, message=text, hint=text, family="native-op")
    return [
        make.scan(bad, make.finding(), repository=text, skipped=[(text, text)]),
        make.plan(make.decision(text, "keep", text), repository=text, left=[bad], warnings=(text,)),
        make.verdicts().model_copy(update={"repository": text}),
    ]


def test_document_without_a_form_is_a_bug_of_ours(knowledge):
    with pytest.raises(TypeError, match="no Markdown form"):
        render(Document(), knowledge)


@pytest.mark.parametrize("index", range(3))
def test_control_characters_of_the_repository_never_come_through(make, knowledge, index):
    text = render(documents(make, CONTROL)[index], knowledge)

    assert [character for character in NEVER if character in text] == []


@pytest.mark.parametrize("index", range(3))
def test_no_markup_of_the_repository_comes_through(make, knowledge, index):
    text = render(documents(make, EVIL)[index], knowledge)

    assert "<" not in text
    assert "](" not in text.replace("\\]", "")
    assert "@somebody" not in text
    assert "://" not in re.sub(r"`[^`]*`", "", text).replace("\\:", "")
    assert [line for line in text.splitlines() if line.startswith("# ")] == [text.splitlines()[0]]


@pytest.mark.parametrize("index", range(3))
def test_every_row_has_the_cells_of_its_header(make, knowledge, index):
    width = 0
    for line in render(documents(make, EVIL)[index], knowledge).splitlines():
        if line.startswith("|---"):
            assert len(cells(line)) == width
        elif line.startswith("|"):
            width = width or len(cells(line))
            assert len(cells(line)) == width
        else:
            width = 0


@given(st.text())
def test_escaped_text_stays_in_its_cell_and_line(text):
    for built in (escape(text), code(text)):
        assert "|" not in built
        assert "<" not in built.replace(f"`{text}`", "") or built.startswith("`")
        assert len(built.splitlines()) <= 1
        assert built.count("`") % 2 == built.count("\\`") % 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CUDA_HOME is None", r"CUDA\_HOME is None"),
        ("a  b\nc", "a b c"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("`x` | *y*", r"\`x\` &#124; \*y\*"),
        ("ask @amd about #12", "ask `@`amd about `#`12"),
        ("http://x www.y.z", r"http\://x www\.y.z"),
        ("größe 日本", "größe 日本"),
    ],
)
def test_escape(text, expected):
    assert escape(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("a_b.cu:1:2", "`a_b.cu:1:2`"), ("a`b", r"a\`b"), ("a|b", "a&#124;b"), ("a\\", r"a\\")]
)
def test_code(text, expected):
    assert code(text) == expected


def test_scan_is_grouped_most_blocking_first(make, knowledge):
    document = make.scan(
        make.finding(family="attention", severity="warning"),
        make.finding(family="native-op", severity="note", line=1),
        make.finding(family="native-op", line=7),
        skipped=[("a.bin", "holds NUL bytes")],
    )

    assert render(document, knowledge) == (
        "# Scan of demo\n"
        "\n"
        "Readiness: **needs-edits** (spaced\\_launch: 1).\n"
        "In 3 files: 1 error, 1 warning, 1 note.\n"
        "\n"
        "## native-op: 1 error, 1 note\n"
        "\n"
        "| severity | location | finding | what to do |\n"
        "|---|---|---|---|\n"
        "| error | `csrc/a.cu:7:12` | CU301 spaced\\_launch: the launch is spaced | close it |\n"
        "| note | `csrc/a.cu:1:12` | CU301 spaced\\_launch: the launch is spaced | close it |\n"
        "\n"
        "## attention: 1 warning\n"
        "\n"
        "| severity | location | finding | what to do |\n"
        "|---|---|---|---|\n"
        "| warning | `csrc/a.cu:2:12` | CU301 spaced\\_launch: the launch is spaced | close it |\n"
        "\n"
        "## Not read or not fully parsed\n"
        "\n"
        "| file | why |\n"
        "|---|---|\n"
        "| `a.bin` | holds NUL bytes |\n"
    )


def test_scan_counts_known_findings(make, knowledge):
    text = render(make.scan().model_copy(update={"known": 4}), knowledge)

    assert "no findings; 4 known findings of the baseline hidden." in text


def test_plan_has_the_most_blocking_family_first(make, knowledge):
    names = ("numpy", "gsplat", "xformers", "kaolin")
    kinds = dict(zip(names, ("keep", "build", "replace", "blocked"), strict=True))
    text = render(make.plan(*(make.decision(name, kinds[name]) for name in names), left=[make.finding()]), knowledge)

    rows = [cells(line) for line in text.splitlines() if line.startswith("|")]
    assert [row[1].strip() for row in rows if len(row) == 5 and row[2].strip() in kinds.values()] == [
        "`kaolin`", "`gsplat`", "`xformers`", "`numpy`",
    ]  # fmt: skip
    assert "Stack: `s1` (0 blocked)." in text
    assert "| other | `csrc/a.cu:2:12` | CU301 spaced\\_launch: the launch is spaced | no recipe |" in text
    assert "| `s0` | has no code for gfx942 |" in text


def test_plan_without_a_stack(make, knowledge):
    assert "Stack: none for linux." in render(make.plan(feasible=False), knowledge)


def test_verdicts_failures_first_and_what_was_not_run_before_what_passed(make, knowledge):
    text = render(make.verdicts(), knowledge)

    assert "1 failed, 1 not_run, 1 skipped, 1 passed." in text
    rows = [cells(line)[0].strip() for line in text.splitlines() if line.startswith("| ")]
    assert rows == ["outcome", "failed", "not_run", "skipped", "passed"]
    assert "| failed | static | `prove_isolation` | the guard leaks |" in text
