from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.requirements import limit_requirements, read

TOO_LONG = "is too long to be read as a requirement"


@pytest.mark.parametrize(
    "line",
    ["[" * 30_000, "torch " + "--hash=sha256:0 " * 2000, " \\\n" * 100 + "torch", "a==" + "1" * 30_000],
    ids=["brackets", "hashes", "blanks over many lines", "digits"],
)
def test_too_long_line_is_reported_and_others_are_read(line):
    """Each of these lines takes the parser between seconds and hours."""
    result = read("requirements.txt", f"numpy\n{line}\ntorch==1\n".encode())

    assert [(entry.name, entry.line) for entry in result.mentions] == [("numpy", 1), ("torch", line.count("\n") + 3)]
    assert ((2, TOO_LONG),) == result.unread


def test_too_large_file_is_reported():
    assert limit_requirements("torch\n" * 200_000) == ("", [(1, "is too large to be read as a requirements file")])


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_too_many_requirements_are_reported(newline):
    text, unread = limit_requirements(f"a{newline}" * 6000)

    assert text == f"a{newline}" * 5000
    assert unread == [(5001, "exceeds the limit of 5000 requirements; the rest was not read")]


def test_comments_and_blank_lines_do_not_count():
    text = "# a\n\n" * 9000 + "torch\n"

    assert limit_requirements(text) == (text, [])


def test_many_blanks_before_a_comment_are_accepted():
    result = read("requirements.txt", f"torch==1{' ' * 5000}# why\n".encode())

    assert [("torch", "==1")] == [(entry.name, entry.version) for entry in result.mentions]


def test_two_hundred_hashes_are_read():
    hashes = " \\\n".join(f"    --hash=sha256:{number:064x}" for number in range(200))

    assert ["torch"] == [entry.name for entry in read("requirements.txt", f"torch==1 \\\n{hashes}\n".encode()).mentions]


@given(st.lists(st.sampled_from(["torch", "a \\", "\\", "# b", "", "blanks", "long"]), max_size=8))
def test_lines_keep_their_numbers(words):
    lines = [{"blanks": " " * 70, "long": "c" * 21_000}.get(token, token) for token in words]
    text, unread = limit_requirements("".join(f"{line}\n" for line in lines))

    retained = text.splitlines()
    assert len(retained) == len(lines)
    assert all(part in ("", " ", line) for part, line in zip(retained, lines, strict=True))
    assert all("long" in words[line - 1 :] for line, _ in unread)
