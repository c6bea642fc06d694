"""Hostile trees: each shape can be built, and what a trap shows is a broken promise."""

from __future__ import annotations

import random
import re

import pytest
from attacks import trees
from attacks.cases import BrokenPromiseError, Case, copy_example
from attacks.commands import load_program
from attacks.runner import remove
from attacks.site import INJECTED, Site
from attacks.snapshots import difference, snapshot

SHAPES = {shape.__name__: shape for shape in trees.all_shapes()}


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    """The port of another machine."""
    load_program()
    return trees.prepare(tmp_path_factory.mktemp("prepared")).forged["deform-op"]


@pytest.fixture
def site(tmp_path, forged):
    root = tmp_path / "case" / "world" / "tree"
    copy_example("deform-op", root)
    site = Site(root, *forged, random.Random(1))
    site.build()
    yield site
    remove(root)  # deeper than pytest can remove


def test_names_of_shapes_are_unique():
    assert len(SHAPES) == len(trees.all_shapes()) > 70


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_built_and_runs_nothing_itself(site, name):
    before = snapshot(site.tree, with_state=True)

    SHAPES[name](site)

    assert difference(before, snapshot(site.tree, with_state=True)) or name == "damaged_git"  # its index does not count
    assert [] == list(site.marks.iterdir())


@pytest.fixture
def watched(site):
    case = Case(0, site.world.parent, "test")
    return trees.Watched(case, site)


def test_whatever_ran_is_named(watched):
    (watched.site.marks / "hook").touch()

    with pytest.raises(BrokenPromiseError, match="scan: ran hook"):
        watched.step("scan", watched.site.tree)


def test_change_outside_is_named(watched):
    (watched.site.outside / "notes.txt").write_text("changed")

    with pytest.raises(BrokenPromiseError, match=re.escape("notes.txt")):
        watched.step("scan", watched.site.tree)


def test_content_of_a_file_outside_in_a_document_is_named(watched):
    watched.step("scan", watched.site.tree)
    (watched.site.tree / ".rocm3d" / "plan.json").write_text(watched.site.secret)

    with pytest.raises(BrokenPromiseError, match="content of a file outside"):
        watched.step("scan", watched.site.tree)


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202e", "\x07", "\u2066"])
def test_bytes_that_a_terminal_obeys_are_unsafe(text):
    assert trees.UNSAFE.search(f"a{text}b")


@pytest.mark.parametrize(
    "page", [f"<script>{INJECTED}()</script>", f"<img onerror='{INJECTED}()'>", f"<a href='javascript:{INJECTED}()'>"]
)
def test_text_that_a_browser_would_run_is_a_problem(page):
    parser = trees._Page()
    parser.feed(page)

    assert parser.problem


@pytest.mark.parametrize("page", [f"<p>&lt;script&gt;{INJECTED}()</p>", f"<a title='{INJECTED}()'>a</a>"])
def test_text_on_a_page_is_no_problem(page):
    parser = trees._Page()
    parser.feed(page)

    assert not parser.problem
