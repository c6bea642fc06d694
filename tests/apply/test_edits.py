from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.apply.edit_selection import EditSelection
from rocm3d.apply.edits import Edits
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.stage import apply
from rocm3d.apply.submodules import CheckedOutSubmodule, checked_out_submodules
from rocm3d.workspace.tree import Tree

OLD = b"#include <gone.h>\nint x;\n"


@pytest.fixture
def plan_of(make_plan, make_edit):
    return lambda *paths: make_plan(*(make_edit("guard_include", path, headers=["gone.h"]) for path in paths))


def test_a_submodule_that_git_cannot_read_gets_no_edit(tmp_path, make_edit):
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs/a.cu").write_bytes(OLD)
    edits = Edits(
        Tree.open(tmp_path), ApplyRequest(folder="rocm-port", submodules=(CheckedOutSubmodule("libs", None),)), None
    )
    edits.edit_file("libs/a.cu", [make_edit("guard_include", "libs/a.cu", headers=["gone.h"])])
    assert [entry.reason for entry in edits.refused] == ["git does not report the commit of submodule libs"]
    assert (edits.contents, edits.submodule_patches()) == ({}, [])


def test_a_file_of_a_submodule_with_other_changes_gets_no_edit(with_submodule, plan_of):
    root, commit = with_submodule({"a.cu": OLD})
    (root / "libs/knn/a.cu").write_bytes(OLD + b"// mine\n")
    tree = Tree.open(root)
    outcome = apply(
        plan_of("libs/knn/a.cu"), tree, ApplyRequest(folder="rocm-port", submodules=checked_out_submodules(tree))
    )
    (refused,) = outcome.patch.refused
    assert refused.reason == f"differs from commit {commit[:12]} of libs/knn"
    assert outcome.patch.modules == ()


def test_a_left_out_edit_is_taken_out_of_a_file_that_has_it(tmp_path, make_plan, make_edit):
    original = b"#include <a.h>\n#include <b.h>\nint x;\n"
    (tmp_path / "a.cu").write_bytes(original)
    edits = [make_edit("guard_include", "a.cu", recipe=f"drop-{name}", headers=[f"{name}.h"]) for name in "ab"]
    first = apply(make_plan(*edits), Tree.open(tmp_path), ApplyRequest(folder="rocm-port"))
    (tmp_path / "a.cu").write_bytes(first.contents["a.cu"])

    def again(*recipes):
        left_out = {("a.cu", recipe): "no" for recipe in recipes}
        request = ApplyRequest(folder="rocm-port", originals={"a.cu": original}, left_out=left_out)
        return apply(make_plan(*edits), Tree.open(tmp_path), request, first.patch)

    one, none = again("drop-a"), again("drop-a", "drop-b")

    (change,) = one.patch.edited
    assert change.recipes == ("drop-b",)
    assert one.contents["a.cu"].startswith(b"#include <a.h>\n#if")
    assert [(item.reason, item.kind) for item in one.patch.refused] == [("no", "left_out")]
    assert none.patch.edited == ()
    assert none.contents["a.cu"] == original
    assert b"a.cu" not in none.commit
    assert again().patch == first.patch


def test_a_file_of_a_submodule_without_an_edit_left_is_as_committed(with_submodule, plan_of):
    root, _ = with_submodule({"a.cu": OLD})
    tree = Tree.open(root)
    request = ApplyRequest(folder="rocm-port", submodules=checked_out_submodules(tree))
    first = apply(plan_of("libs/knn/a.cu"), tree, request)
    left_out = replace(request, left_out={("libs/knn/a.cu", "guard-include"): "no"})
    second = apply(plan_of("libs/knn/a.cu"), tree, left_out, first.patch)

    assert first.submodule_contents["libs/knn/a.cu"] != OLD
    assert second.submodule_contents == {"libs/knn/a.cu": OLD}
    assert second.patch.modules == ()
    assert "libs/knn/a.cu" not in second.contents


def test_an_edit_of_an_earlier_apply_stays_when_another_is_left_out(tmp_path, make_plan, make_edit):
    original = b"#include <a.h>\n#include <b.h>\nint x;\n"
    (tmp_path / "a.cu").write_bytes(original)
    edits = [make_edit("guard_include", "a.cu", recipe=f"drop-{name}", headers=[f"{name}.h"]) for name in "ab"]
    first = apply(make_plan(*edits), Tree.open(tmp_path), ApplyRequest(folder="rocm-port"))
    (tmp_path / "a.cu").write_bytes(first.contents["a.cu"])
    request = ApplyRequest(
        folder="rocm-port",
        originals={"a.cu": original},
        left_out={("a.cu", "drop-a"): "no"},
        selection=EditSelection(skip=("drop-b",)),
    )

    (change,) = apply(make_plan(*edits), Tree.open(tmp_path), request, first.patch).patch.edited

    assert change.recipes == ("drop-b",)


def test_edits_to_read_are_marked_with_the_lines_of_the_edited_file(tmp_path, make_plan, make_edit):
    (tmp_path / "a.cu").write_bytes(OLD)
    edit = make_edit("guard_include", "a.cu", safety="review", headers=["gone.h"])
    plan = make_plan(edit.model_copy(update={"check": "Check it."}))
    first = apply(plan, Tree.open(tmp_path), ApplyRequest(folder="rocm-port"))
    (tmp_path / "a.cu").write_bytes(first.contents["a.cu"])
    request = ApplyRequest(folder="rocm-port", originals={"a.cu": OLD})

    for outcome in (first, apply(plan, Tree.open(tmp_path), request, first.patch)):
        (note,) = outcome.patch.review
        assert (note.recipe, note.where, note.check) == ("guard-include", "a.cu:2", "Check it.")
    (note,) = apply(make_plan(), Tree.open(tmp_path), request, first.patch).patch.review
    assert note.check == "Check it."


def test_the_reason_of_a_refusal_is_that_of_the_first_apply(tmp_path, make_plan, make_edit):
    original = b"if CUDA_HOME is None:\n    y = 1\nfrom torch.utils.cpp_extension import CUDA_HOME\nx = ['-lineinfo']\n"
    (tmp_path / "setup.py").write_bytes(original)
    plan = make_plan(
        make_edit("open_toolkit_check", "setup.py", names=["CUDA_HOME"]),
        make_edit("split_compile_flags", "setup.py", nvcc_only=["-lineinfo"]),
    )
    first = apply(plan, Tree.open(tmp_path), ApplyRequest(folder="rocm-port"))
    (tmp_path / "setup.py").write_bytes(first.contents["setup.py"])

    request = ApplyRequest(folder="rocm-port", originals={"setup.py": original})

    assert [item.reason for item in first.patch.refused] == ["the code to edit comes before the imports"]
    assert apply(plan, Tree.open(tmp_path), request, first.patch).patch == first.patch


def test_excluded_edit_is_refused_with_its_location(tmp_path, plan_of):
    (tmp_path / "a.cu").write_bytes(OLD)
    request = ApplyRequest(folder="rocm-port", selection=EditSelection(skip=("guard-include",)))
    outcome = apply(plan_of("a.cu"), Tree.open(tmp_path), request)
    (refused,) = outcome.patch.refused
    assert (refused.reason, refused.places) == ("excluded by --skip guard-include", ("a.cu:1:1",))
    assert "a.cu" not in outcome.contents


def test_edit_of_an_earlier_apply_is_not_refused_by_a_later_selection(tmp_path, plan_of):
    (tmp_path / "a.cu").write_bytes(OLD)
    first = apply(plan_of("a.cu"), Tree.open(tmp_path), ApplyRequest(folder="rocm-port"))
    (tmp_path / "a.cu").write_bytes(first.contents["a.cu"])
    request = ApplyRequest(
        folder="rocm-port", originals={"a.cu": OLD}, selection=EditSelection(skip=("guard-include",))
    )
    second = apply(plan_of("a.cu"), Tree.open(tmp_path), request, first.patch)
    assert second.patch.refused == ()
    assert second.contents["a.cu"] == first.contents["a.cu"]


def test_edits_in_a_submodule_become_its_patch(with_submodule, plan_of, git, tmp_path):
    """Applied to a new clone at that commit it gives the edited bytes; the checkout is not written."""
    root, commit = with_submodule({"a.cu": OLD, "deep/b.cu": OLD.replace(b"\n", b"\r\n")})
    (root / "c.cu").write_bytes(OLD)
    tree = Tree.open(root)
    plan = plan_of("libs/knn/a.cu", "libs/knn/deep/b.cu", "c.cu")
    outcome = apply(plan, tree, ApplyRequest(folder="rocm-port", submodules=checked_out_submodules(tree)))

    (module,) = outcome.patch.modules
    assert (module.path, module.commit, module.file) == ("libs/knn", commit, f"rocm-port/patches/knn@{commit}.patch")
    assert not [path for path in outcome.contents if path.startswith("libs/")]
    assert {change.path for change in outcome.patch.changes if change.kind == "edited"} == {"c.cu"}
    assert {change.path for change in outcome.patch.edited} == {"c.cu", "libs/knn/a.cu", "libs/knn/deep/b.cu"}
    git(tmp_path, "clone", "-q", tmp_path / "knn-origin", "clone")
    (tmp_path / "knn.patch").write_bytes(outcome.contents[module.file])
    git(tmp_path / "clone", "am", "-q", "--keep-cr", tmp_path / "knn.patch")
    for path, data in outcome.submodule_contents.items():
        assert (tmp_path / "clone" / path.removeprefix("libs/knn/")).read_bytes() == data


def test_an_edit_is_refused_if_a_header_defines_the_guard(tmp_path, plan_of):
    (tmp_path / "a.cu").write_bytes(OLD)
    (tmp_path / "config.h").write_bytes(b"#define USE_ROCM 0\n")
    outcome = apply(plan_of("a.cu"), Tree.open(tmp_path), ApplyRequest(folder="rocm-port"))
    (refused,) = outcome.patch.refused
    assert refused.reason == (
        "NVIDIA isolation not proven: config.h:1 defines USE_ROCM where NVIDIA builds see it (assumption C1)"
    )
    assert "a.cu" not in outcome.contents


def test_facts_are_those_of_the_original_tree(tmp_path, plan_of):
    """What an earlier apply wrote does not count against a second one."""
    (tmp_path / "a.cu").write_bytes(OLD)
    (tmp_path / "config.h").write_bytes(b"#define USE_ROCM 0\n")
    (tmp_path / "rocm-port").mkdir()
    (tmp_path / "rocm-port/port.json").write_bytes(b'{"tool": "rocm3d"}')
    (tmp_path / "rocm-port/flags.h").write_bytes(b"#define USE_ROCM 1\n")
    request = ApplyRequest(folder="rocm-port", originals={"config.h": b"int y;\n"})
    outcome = apply(plan_of("a.cu"), Tree.open(tmp_path), request)
    assert outcome.patch.refused == ()
    assert "a.cu" in outcome.contents
