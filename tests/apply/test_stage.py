from __future__ import annotations

import json
import subprocess

import pytest

from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.stage import apply, is_port_folder, refuse_foreign_folder
from rocm3d.model.errors import UserError
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree

GUARDED = b"#if !defined(USE_ROCM) && !defined(__HIP_PLATFORM_AMD__)\n#include <gone.h>\n#endif\nint x;\n"
REQUEST = ApplyRequest(folder="rocm-port")


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "target"
    root.mkdir()

    def write(path: str, data: bytes) -> Tree:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return Tree.open(root)

    write.root = root
    return write


# Refusals.


def test_a_foreign_folder_is_refused(repository, make_plan):
    tree = repository("rocm-port/notes.txt", b"mine\n")
    with pytest.raises(UserError, match="not made by rocm3d"):
        apply(make_plan(), tree, REQUEST)


@pytest.mark.parametrize("manifest", [b"", b"{}", b"[]", b"null", b"{", b'{"tool": "other"}', b"\xff", b"[" * 100_000])
def test_a_folder_with_another_manifest_is_foreign(repository, manifest):
    tree = repository("rocm-port/port.json", manifest)
    assert not is_port_folder(tree, "rocm-port")
    with pytest.raises(UserError):
        refuse_foreign_folder(tree, "rocm-port")


def test_our_own_folder_is_accepted(repository, make_plan):
    tree = repository("a.txt", b"")
    outcome = apply(make_plan(), tree, REQUEST)
    for path, data in outcome.contents.items():
        tree = repository(path, data)
    assert is_port_folder(tree, "rocm-port")
    assert apply(make_plan(), tree, REQUEST).contents.keys() >= outcome.contents.keys()


def test_another_folder_can_be_requested(repository, make_plan):
    tree = repository("rocm-port/notes.txt", b"mine\n")
    outcome = apply(make_plan(), tree, ApplyRequest(folder="amd"))
    assert all(path.startswith("amd/") for path in outcome.contents)


@pytest.mark.parametrize("path", ["missing.cu", "big.cu"])
def test_a_file_that_cannot_be_read_is_refused(repository, make_plan, make_edit, path):
    repository("big.cu", b"#include <gone.h>\n" + b" " * (4 * 1024 * 1024))
    outcome = apply(
        make_plan(make_edit("guard_include", path, headers=["gone.h"])), Tree.open(repository.root), REQUEST
    )
    assert [(entry.path, entry.reason) for entry in outcome.patch.refused] == [(path, "cannot read the file")]
    assert path not in outcome.contents


def test_an_edit_that_is_not_proven_is_refused_and_not_made(repository, make_plan, make_edit):
    tree = repository("x.cu", b"#define USE_ROCM\n#include <gone.h>\nint x;\n#undef USE_ROCM\n#include <gone.h>\n")
    outcome = apply(make_plan(make_edit("guard_include", "x.cu", headers=["gone.h"])), tree, REQUEST)
    (refused,) = outcome.patch.refused
    assert "isolation not proven" in refused.reason
    assert "x.cu" not in outcome.contents
    assert "x.cu" not in {change.path for change in outcome.patch.changes}


def test_an_edit_in_a_file_without_a_known_proof_is_refused(repository, make_plan, make_edit):
    tree = repository("x.txt", b"#include <gone.h>\n")
    outcome = apply(make_plan(make_edit("guard_include", "x.txt", headers=["gone.h"])), tree, REQUEST)
    assert "no proof" in outcome.patch.refused[0].reason
    assert "x.txt" not in outcome.contents


def test_refusal_of_a_rewrite_has_its_reason(repository, make_plan, make_edit):
    tree = repository("x.cu", b"#include <gone.h>\nvoid f() { reduce(1); }\n")
    edit = make_edit("guard_include", "x.cu", headers=["gone.h"], refuse_if_called=["reduce"])
    outcome = apply(make_plan(edit), tree, REQUEST)
    assert [entry.reason for entry in outcome.patch.refused] == ["this file uses reduce from the header"]


def test_safe_only_leaves_out_edits_that_somebody_should_read(repository, make_plan, make_edit):
    tree = repository("x.cu", b"#include <gone.h>\nint x;\n")
    plan = make_plan(make_edit("guard_include", "x.cu", safety="review", headers=["gone.h"]))
    outcome = apply(plan, tree, ApplyRequest(folder="rocm-port", safe_only=True))
    assert [(item.reason, item.kind) for item in outcome.patch.refused] == [("left out by --safe-only", "left_out")]
    assert outcome.patch.left_out == outcome.patch.refused
    assert "x.cu" not in outcome.contents


@pytest.mark.parametrize("safe_only", [False, True])
def test_a_manual_edit_is_never_made(repository, make_plan, make_edit, safe_only):
    tree = repository("x.cu", b"#include <gone.h>\nint x;\n")
    plan = make_plan(make_edit("guard_include", "x.cu", safety="manual", headers=["gone.h"]))
    outcome = apply(plan, tree, ApplyRequest(folder="rocm-port", safe_only=safe_only))
    assert "x.cu" not in outcome.contents
    assert [item.kind for item in outcome.patch.refused] == ["task"]


def test_unknown_rewrite_is_refused(repository, make_plan, make_edit):
    tree = repository("x.cu", b"int x;\n")
    outcome = apply(make_plan(make_edit("no_such_rewrite", "x.cu")), tree, REQUEST)
    assert [entry.recipe for entry in outcome.patch.refused] == ["no-such-rewrite"]


def test_an_edit_without_effect_is_no_change(repository, make_plan, make_edit):
    tree = repository("x.cu", b"int x;\n")
    outcome = apply(make_plan(make_edit("guard_include", "x.cu", headers=["gone.h"])), tree, REQUEST)
    assert "x.cu" not in outcome.contents
    assert outcome.patch.refused == ()


# What is done.


def test_a_proven_edit_is_made_and_nothing_is_written(repository, make_plan, make_edit, snapshot):
    tree = repository("x.cu", b"#include <gone.h>\nint x;\n")
    before = snapshot(repository.root)
    outcome = apply(make_plan(make_edit("guard_include", "x.cu", headers=["gone.h"])), tree, REQUEST)
    (change,) = [change for change in outcome.patch.changes if change.kind == "edited"]
    assert outcome.contents["x.cu"] == GUARDED
    assert change.proof.holds
    assert (change.before, change.after) == (digest(b"#include <gone.h>\nint x;\n"), digest(GUARDED))
    assert change.recipes == ("guard-include",)
    assert snapshot(repository.root) == before


def test_two_edits_of_a_file_add_up_even_when_the_plan_names_another_between(repository, make_plan, make_edit):
    repository("y.cu", b"int y;\n")
    tree = repository("x.cu", b"#include <a.h>\nint x;\n#include <b.h>\nint y;\n")
    edits = [
        make_edit("guard_include", "x.cu", recipe="one", headers=["a.h"]),
        make_edit("guard_include", "y.cu", headers=["a.h"]),
        make_edit("guard_include", "x.cu", recipe="two", headers=["b.h"]),
    ]
    outcome = apply(make_plan(*edits), tree, REQUEST)
    assert outcome.contents["x.cu"].count(b"#endif") == 2
    (change,) = [change for change in outcome.patch.changes if change.path == "x.cu"]
    assert change.recipes == ("one", "two")


def test_earlier_edits_are_carried(repository, make_plan, make_edit):
    original = b"#include <gone.h>\nint x;\n"
    tree = repository("x.cu", original)
    plan = make_plan(make_edit("guard_include", "x.cu", headers=["gone.h"]))
    first = apply(plan, tree, REQUEST)
    for path, data in first.contents.items():
        tree = repository(path, data)
    again = apply(make_plan(), tree, ApplyRequest(folder="rocm-port", originals={"x.cu": original}), first.patch)
    (change,) = [change for change in again.patch.changes if change.path == "x.cu"]
    assert again.contents["x.cu"] == GUARDED
    assert change.before == digest(original)
    assert change.recipes == ("guard-include",)


def test_apply_twice_is_apply_once(repository, make_plan, make_edit):
    original = b"#include <gone.h>\nint x;\n"
    tree = repository("x.cu", original)
    plan = make_plan(make_edit("guard_include", "x.cu", headers=["gone.h"]))
    first = apply(plan, tree, REQUEST)
    for path, data in first.contents.items():
        tree = repository(path, data)
    again = apply(plan, tree, ApplyRequest(folder="rocm-port", originals={"x.cu": original}), first.patch)
    assert again.contents == first.contents
    assert again.patch == first.patch


def test_a_file_put_back_by_hand_is_not_carried(repository, make_plan):
    tree = repository("x.cu", b"int x;\n")
    outcome = apply(
        make_plan(), tree, ApplyRequest(folder="rocm-port", originals={"x.cu": b"int x;\n", "y.cu": b"", "z": None})
    )
    assert set(outcome.contents) == {path for path in outcome.contents if path.startswith("rocm-port/")}


def test_the_manifest_lists_the_files_of_the_port(repository, make_plan, make_edit):
    tree = repository("x.cu", b"#include <gone.h>\nint x;\n")
    outcome = apply(make_plan(make_edit("guard_include", "x.cu", headers=["gone.h"])), tree, REQUEST)
    manifest = json.loads(outcome.contents["rocm-port/port.json"])
    assert manifest["tool"] == "rocm3d"
    assert set(manifest["edited"]) == {"x.cu"}
    assert set(manifest["added"]) | {"rocm-port/port.json", "x.cu"} == set(outcome.contents)


FILES = {
    "plain": b"#include <gone.h>\nint x;\n",
    "no final newline": b"#include <gone.h>\nint x;",
    "no final newline far away": b"#include <gone.h>\n" + b"int x;\n" * 20 + b"int y;",
    "CRLF": b"#include <gone.h>\r\nint x;\r\n",
    "form feed": b"#include <gone.h>\nint x;\f\n\fint y;\n",
    "line separator": "#include <gone.h>\n// a\u2028b\x85c\n".encode(),
    "umlaut": "#include <gone.h>\n// Größe\n".encode(),
}


@pytest.mark.parametrize("path", ["x.cu", "a folder/x y.cu"])
@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_git_accepts_the_diff(repository, make_plan, make_edit, data, path):
    """Applied to the original it gives the very bytes that apply writes."""
    repository("requirements.txt", b"torch\n")
    tree = repository(path, data)
    outcome = apply(make_plan(make_edit("guard_include", path, headers=["gone.h"])), tree, REQUEST)
    patch = "".join(change.diff for change in outcome.patch.changes)
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    ended = subprocess.run(
        command,
        input=patch.encode(),
        cwd=repository.root,
        capture_output=True,
        check=False,
        env={"GIT_CEILING_DIRECTORIES": str(repository.root.parent), "PATH": "/usr/bin:/bin"},
    )
    assert ended.returncode == 0, ended.stderr.decode()
    assert {name: (repository.root / name).read_bytes() for name in outcome.contents} == dict(outcome.contents)


def test_the_diff_of_an_added_file_marks_a_missing_last_newline(repository, make_plan):
    outcome = apply(make_plan(), repository("requirements.txt", b"torch"), REQUEST)
    (change,) = [change for change in outcome.patch.changes if change.path == "rocm-port/requirements.txt"]
    assert change.diff.endswith("+torch\n\\ No newline at end of file\n")


def test_every_change_of_an_outcome_is_proven(repository, make_plan, make_edit):
    before = (
        b"from torch.utils import cpp_extension as e\nx = ['--use_fast_math']\nif e.CUDA_HOME is None:\n    y = 1\n"
    )
    tree = repository("setup.py", before)
    edits = (
        make_edit("split_compile_flags", "setup.py", nvcc_only=["--use_fast_math"]),
        make_edit("open_toolkit_check", "setup.py", names=["CUDA_HOME"]),
    )
    outcome = apply(make_plan(*edits), tree, REQUEST)
    assert outcome.patch.refused == ()
    assert all(change.proof.holds for change in outcome.patch.changes)
    assert prove_isolation("setup.py", before, outcome.contents["setup.py"]).holds
    assert outcome.contents["setup.py"].count(b"is_rocm = ") == 1
