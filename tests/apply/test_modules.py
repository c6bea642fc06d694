from __future__ import annotations

from rocm3d.apply.modules import checked_out, holding, holds_only_ours, original, patched_files
from rocm3d.model.patch import FileChange, SubmodulePatch, Patch, Proof
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree

OLD, NEW = b"old\n", b"new\n"


def patch(commit: str) -> Patch:
    proof = Proof(kind="cpp-directives-evaluated", holds=True, detail="d")
    change = FileChange(
        path="libs/knn/a.cu", kind="edited", before=digest(OLD), after=digest(NEW), recipes=("r",), proof=proof, diff=""
    )
    module = SubmodulePatch(path="libs/knn", name="knn", commit=commit, file="rocm-port/patches/p", changes=(change,))
    return Patch(repository="r", folder="rocm-port", dry_run=False, changes=(), refused=(), left=(), modules=(module,))


def test_what_is_no_repository_of_its_own_is_no_module(tmp_path):
    (tmp_path / ".gitmodules").write_text('[submodule "a"]\n\tpath = libs/knn\n[submodule "b"]\n\tpath = gone\n')
    (tmp_path / "libs/knn").mkdir(parents=True)
    (tmp_path / "libs/knn/a.cu").write_bytes(OLD)
    assert checked_out(Tree.open(tmp_path)) == ()


def test_a_file_with_changes_of_somebody_else_has_no_original(with_submodule):
    root, commit = with_submodule({"a.cu": OLD})
    (module,) = checked_out(Tree.open(root))
    (root / "libs/knn/a.cu").write_bytes(b"mine\n")
    (root / "libs/knn/b.cu").write_bytes(b"mine\n")
    assert original(module, "libs/knn/a.cu", Tree.open(root), patch(commit)) is None
    assert original(module, "libs/knn/b.cu", Tree.open(root), patch(commit)) is None
    assert not holds_only_ours(root, "libs/knn", patch(commit))
    assert not holds_only_ours(root, "libs/other", patch(commit))
    assert list(patched_files(Tree.open(root), patch(commit))) == []


def test_a_checked_out_submodule_is_known_by_its_commit(with_submodule):
    root, commit = with_submodule({"a.cu": OLD})
    (module,) = checked_out(Tree.open(root))
    assert (module.path, module.name, module.commit) == ("libs/knn", "knn", commit)
    assert module.patch == f"patches/knn@{commit}.patch"
    assert holding("libs/knn/a.cu", (module,)) is module
    assert holding("libs/knn2/a.cu", (module,)) is None
    assert original(module, "libs/knn/a.cu", Tree.open(root), None) == OLD


def test_a_file_that_our_patch_was_applied_to_is_as_its_commit_has_it(with_submodule):
    root, commit = with_submodule({"a.cu": OLD})
    (module,) = checked_out(Tree.open(root))
    (root / "libs/knn/a.cu").write_bytes(NEW)
    assert original(module, "libs/knn/a.cu", Tree.open(root), None) is None
    assert original(module, "libs/knn/a.cu", Tree.open(root), patch(commit)) == OLD
    assert dict(patched_files(Tree.open(root), patch(commit))) == {"libs/knn/a.cu": OLD}
    assert holds_only_ours(root, "libs/knn", patch(commit))
