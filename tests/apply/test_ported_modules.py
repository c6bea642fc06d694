from __future__ import annotations

from rocm3d.apply.modules import checked_out
from rocm3d.apply.ported_modules import ported_modules
from rocm3d.apply.request import Request
from rocm3d.apply.stage import apply
from rocm3d.workspace.tree import Tree

OLD = b"#include <gone.h>\r\n// caf\xe9\r\nint x;"


def ported(root, make_plan, make_edit):
    """The outcome of an apply whose added files are written, as the pipeline does."""
    tree = Tree.open(root)
    plan = make_plan(make_edit("guard_include", "libs/knn/a.cu", headers=["gone.h"]))
    outcome = apply(plan, tree, Request(folder="rocm-port", modules=checked_out(tree)))
    for path, data in outcome.contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return outcome


def test_without_the_patch_file_nothing_is_known(with_submodule, make_plan, make_edit):
    root, _ = with_submodule({"a.cu": OLD})
    outcome = ported(root, make_plan, make_edit)
    (root / outcome.patch.modules[0].file).unlink()
    found = ported_modules(outcome.patch, Tree.open(root))
    assert (found.before, found.after) == ({}, {})
    assert [change.path for change in found.changes] == ["libs/knn/a.cu"]


def test_files_are_as_their_patch_makes_them(with_submodule, make_plan, make_edit):
    root, _ = with_submodule({"a.cu": OLD, "b.cu": OLD})
    outcome = ported(root, make_plan, make_edit)
    found = ported_modules(outcome.patch, Tree.open(root))
    assert found.before == {"libs/knn/a.cu": OLD}
    assert found.after == outcome.inside
    assert found.after["libs/knn/a.cu"] != OLD
