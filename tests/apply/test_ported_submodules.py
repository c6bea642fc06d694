from __future__ import annotations

from rocm3d.apply.ported_submodules import ported_submodules
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.stage import apply
from rocm3d.apply.submodules import checked_out_submodules
from rocm3d.workspace.tree import Tree

OLD = b"#include <gone.h>\r\n// caf\xe9\r\nint x;"


def ported(root, make_plan, make_edit):
    """The outcome of an apply whose added files are written, as the pipeline does."""
    tree = Tree.open(root)
    plan = make_plan(make_edit("guard_include", "libs/knn/a.cu", headers=["gone.h"]))
    outcome = apply(plan, tree, ApplyRequest(folder="rocm-port", submodules=checked_out_submodules(tree)))
    for path, data in outcome.contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return outcome


def test_no_files_without_the_patch(with_submodule, make_plan, make_edit):
    root, _ = with_submodule({"a.cu": OLD})
    outcome = ported(root, make_plan, make_edit)
    (root / outcome.patch.modules[0].file).unlink()
    result = ported_submodules(outcome.patch, Tree.open(root))
    assert (result.before, result.after) == ({}, {})
    assert [change.path for change in result.changes] == ["libs/knn/a.cu"]


def test_files_have_the_patch_applied(with_submodule, make_plan, make_edit):
    root, _ = with_submodule({"a.cu": OLD, "b.cu": OLD})
    outcome = ported(root, make_plan, make_edit)
    result = ported_submodules(outcome.patch, Tree.open(root))
    assert result.before == {"libs/knn/a.cu": OLD}
    assert result.after == outcome.submodule_contents
    assert result.after["libs/knn/a.cu"] != OLD
