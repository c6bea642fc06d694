from __future__ import annotations

from rocm3d.apply.submodules import (
    checked_out_submodules,
    find_submodule,
    has_only_port_changes,
    original_bytes,
    patched_files,
)
from rocm3d.model.patch import FileChange, Patch, Proof, SubmodulePatch
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


def test_folder_without_git_is_not_a_checked_out_submodule(tmp_path):
    (tmp_path / ".gitmodules").write_text('[submodule "a"]\n\tpath = libs/knn\n[submodule "b"]\n\tpath = gone\n')
    (tmp_path / "libs/knn").mkdir(parents=True)
    (tmp_path / "libs/knn/a.cu").write_bytes(OLD)
    assert checked_out_submodules(Tree.open(tmp_path)) == ()


def test_a_file_with_other_changes_has_no_original(with_submodule):
    root, commit = with_submodule({"a.cu": OLD})
    (module,) = checked_out_submodules(Tree.open(root))
    (root / "libs/knn/a.cu").write_bytes(b"mine\n")
    (root / "libs/knn/b.cu").write_bytes(b"mine\n")
    assert original_bytes(module, "libs/knn/a.cu", Tree.open(root), patch(commit)) is None
    assert original_bytes(module, "libs/knn/b.cu", Tree.open(root), patch(commit)) is None
    assert not has_only_port_changes(root, "libs/knn", patch(commit))
    assert not has_only_port_changes(root, "libs/other", patch(commit))
    assert list(patched_files(Tree.open(root), patch(commit))) == []


def test_a_checked_out_submodule_is_known_by_its_commit(with_submodule):
    root, commit = with_submodule({"a.cu": OLD})
    (module,) = checked_out_submodules(Tree.open(root))
    assert (module.path, module.name, module.commit) == ("libs/knn", "knn", commit)
    assert module.patch_path == f"patches/knn@{commit}.patch"
    assert find_submodule("libs/knn/a.cu", (module,)) is module
    assert find_submodule("libs/knn2/a.cu", (module,)) is None
    assert original_bytes(module, "libs/knn/a.cu", Tree.open(root), None) == OLD


def test_original_of_a_patched_file_is_the_committed_file(with_submodule):
    root, commit = with_submodule({"a.cu": OLD})
    (module,) = checked_out_submodules(Tree.open(root))
    (root / "libs/knn/a.cu").write_bytes(NEW)
    assert original_bytes(module, "libs/knn/a.cu", Tree.open(root), None) is None
    assert original_bytes(module, "libs/knn/a.cu", Tree.open(root), patch(commit)) == OLD
    assert dict(patched_files(Tree.open(root), patch(commit))) == {"libs/knn/a.cu": OLD}
    assert has_only_port_changes(root, "libs/knn", patch(commit))
