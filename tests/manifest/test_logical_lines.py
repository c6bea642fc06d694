from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.logical_lines import bounded
from rocm3d.manifest.requirements import read

TOO_LONG = "is too long to be read as a requirement"


@pytest.mark.parametrize(
    "line",
    ["[" * 30_000, "torch " + "--hash=sha256:0 " * 2000, " \\\n" * 100 + "torch", "a==" + "1" * 30_000],
    ids=["brackets", "hashes", "blanks over many lines", "digits"],
)
def test_a_line_beyond_the_bounds_is_told_and_its_neighbours_are_read(line):
    """Each of these lines takes the parser between seconds and hours."""
    found = read("requirements.txt", f"numpy\n{line}\ntorch==1\n".encode())

    assert [(item.name, item.line) for item in found.mentions] == [("numpy", 1), ("torch", line.count("\n") + 3)]
    assert ((2, TOO_LONG),) == found.unread


def test_a_file_beyond_the_bounds_is_told():
    assert bounded("torch\n" * 200_000) == ("", [(1, "is too large to be read as a requirements file")])


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_too_many_requirements_are_told_and_the_first_are_read(newline):
    text, unread = bounded(f"a{newline}" * 6000)

    assert text == f"a{newline}" * 5000
    assert unread == [(5001, "exceeds the limit of 5000 requirements; the rest was not read")]


def test_comments_and_blank_lines_do_not_count():
    text = "# a\n\n" * 9000 + "torch\n"

    assert bounded(text) == (text, [])


def test_many_blanks_before_a_comment_are_no_reason_to_refuse():
    found = read("requirements.txt", f"torch==1{' ' * 5000}# why\n".encode())

    assert [("torch", "==1")] == [(item.name, item.version) for item in found.mentions]


def test_two_hundred_hashes_are_read():
    hashes = " \\\n".join(f"    --hash=sha256:{number:064x}" for number in range(200))

    assert ["torch"] == [item.name for item in read("requirements.txt", f"torch==1 \\\n{hashes}\n".encode()).mentions]


@given(st.lists(st.sampled_from(["torch", "a \\", "\\", "# b", "", "blanks", "long"]), max_size=8))
def test_lines_keep_their_numbers(words):
    lines = [{"blanks": " " * 70, "long": "c" * 21_000}.get(word, word) for word in words]
    text, unread = bounded("".join(f"{line}\n" for line in lines))

    kept = text.splitlines()
    assert len(kept) == len(lines)
    assert all(part in ("", " ", line) for part, line in zip(kept, lines, strict=True))
    assert all("long" in words[line - 1 :] for line, _ in unread)
