from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.inventory import GIT_DEPENDENCY, LFS_POINTER, NOT_CHECKED_OUT, UnscannedCode
from rocm3d.render import html
from rocm3d.render.console import render_unscanned, summary
from rocm3d.render.unscanned import group_unscanned

SCAN = "rocm3d scan ."


def submodule(name):
    command = shlex.join(["git", "submodule", "update", "--init", "--recursive", "--", name])
    return UnscannedCode(name=name, where=".gitmodules", reason=NOT_CHECKED_OUT, commands=(command, SCAN))


def pointer(name):
    return UnscannedCode(
        name=name, where=name, reason=LFS_POINTER, commands=(f"git lfs pull --include={shlex.quote(name)}", SCAN)
    )


def test_nothing_gives_no_line():
    assert group_unscanned(()) == ()
    assert render_unscanned(()) == ""


def test_submodules_are_one_line_with_one_command():
    text = render_unscanned([submodule("a"), submodule("b c")], width=200)

    assert text == (
        "not scanned: 2 submodules that are not checked out (a, b c). "
        "Run: git submodule update --init --recursive -- a 'b c'\n"
    )


def test_pointers_are_one_line_with_one_command():
    assert "2 files that Git LFS has not fetched (a.cu, b.cu). Run: git lfs pull --include=a.cu,b.cu" in (
        render_unscanned([pointer("a.cu"), pointer("b.cu")], width=200)
    )


def test_commands_that_differ_are_all_shown():
    clones = [
        UnscannedCode(name=name, where="u", reason=GIT_DEPENDENCY, commands=(f"git clone {name}", f"cd {name}", "scan"))
        for name in ("a", "b")
    ]

    lines = render_unscanned(clones).splitlines()

    assert lines[0] == "not scanned: 2 git dependencies (a, b)"
    assert [line.strip() for line in lines[1:]] == ["git clone a", "cd a", "scan", "git clone b", "cd b", "scan"]


def test_a_file_is_named_with_its_reason():
    entry = UnscannedCode(name="a.cu", where="a.cu", reason="is 9.0 MB, above the limit of 4 MiB")

    assert render_unscanned([entry]) == "not scanned: a.cu is 9.0 MB, above the limit of 4 MiB\n"


def test_many_names_are_counted():
    text = render_unscanned([submodule(f"m{number}") for number in range(9)], width=300)

    assert "9 submodules that are not checked out (m0, m1, m2, m3, m4, m5 and 3 more)" in text
    assert text.rstrip().endswith("m7 m8")


def test_scan_page_and_summary_name_it(make):
    entry = submodule("<b>libs</b>")
    document = make.scan()
    inventory = document.inventory.model_copy(update={"unscanned": (entry,), "skipped": ()})
    document = document.model_copy(update={"inventory": inventory})

    assert "1 submodule that is not checked out" in summary(document)
    page = html.render(document)
    assert "&lt;b&gt;libs&lt;/b&gt;" in page
    assert "<b>libs</b>" not in page


@given(st.lists(st.text("ab /-'", min_size=1, max_size=6), unique=True, min_size=1, max_size=8))
def test_the_joined_command_names_every_submodule(names):
    (group,) = group_unscanned(map(submodule, names))

    assert shlex.split(group.commands[0])[5:] == ["--", *names]
    assert group.commands[1:] == (SCAN,)
