from __future__ import annotations

import re

import pytest

from rocm3d.render.console import render_diff

DIFF = (
    "diff --git a/x.cu b/x.cu\n--- a/x.cu\n+++ b/x.cu\n@@ -1,3 +1,4 @@\n \tint a;\n--- old\n+++ new\r\n"
    "+#if defined(USE_ROCM)\n\\ No newline at end of file\n"
)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def dry(make):
    return lambda diff: make.patch(make.change("x.cu", diff), make.change("y.cu", ""), dry_run=True)


def test_control_characters_of_the_repository_are_not_obeyed(dry):
    shown = render_diff(dry("@@ -1 +1 @@\n+a\x1b[31mb\u202e\rc\n"), colour=True)

    assert plain(shown).split("\n")[1] == "+a\ufffd[31mb\ufffd\ufffdc"


def test_without_colour_the_lines_are_those_of_the_diff(dry):
    assert render_diff(dry(DIFF)) == DIFF


def test_colour_changes_no_line(dry):
    shown = render_diff(dry(DIFF), colour=True)

    assert shown != DIFF
    assert plain(shown) == DIFF


def test_names_removed_and_added_lines_and_places_differ_in_style(dry):
    lines = render_diff(dry(DIFF), colour=True).split("\n")
    styles = {name: lines[at].split("m")[0] for name, at in [("name", 1), ("place", 3), ("removed", 5), ("added", 7)]}

    assert len(set(styles.values())) == 4
    assert lines[1].split("m")[0] == lines[2].split("m")[0]
    assert lines[4] == " \tint a;"
