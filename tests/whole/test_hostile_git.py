"""No command starts a program that the configuration of a repository names."""

from __future__ import annotations

import sys

import pytest
from hostile_git import hostile_checkout, make_stale

from rocm3d.model.errors import UserError
from rocm3d.pipeline import Repository
from rocm3d.repository import ApplyOptions

KERNEL = "__global__ void knn(float *x) { x[0] = __shfl_xor_sync(0xffffffff, x[0], 16, 32); }\n"


@pytest.mark.parametrize(
    "attack",
    [
        "filter in .git/config.worktree",
        "filter of a submodule",
        "partial clone without its tree",
        "partial clone without a file",
        "every setting that names a program",
    ],
)
def test_no_command_starts_a_program_of_git(rocm3d, knowledge, example, tmp_path, attack):
    checkout = hostile_checkout(tmp_path / "hostile", attack, example("splat-trainer"))
    root, module = checkout.root, checkout.root / "libs" / "knn"
    if module.is_dir():
        (module / "knn.cu").write_text(KERNEL)
        (module / "setup.py").write_text("from torch.utils.cpp_extension import CUDAExtension\n")
        make_stale(root)

    rocm3d("port", root, "--gpu", "mi300x")
    ported = rocm3d("port", root, "--gpu", "mi300x", "--allow-dirty")
    rocm3d("apply", root, "--allow-dirty")
    rocm3d("verify", root, "--level", "static")
    drafts = rocm3d("upstream", root, "--no-ledger")
    ended = rocm3d("run", "--limit", "60s", "--", sys.executable, "-c", "print(1)", cwd=root)

    if attack == "partial clone without its tree":
        assert (ported.code, drafts.code) == (2, 2)
        assert "git status failed" in ported.err
    else:
        assert (root / "rocm-port").is_dir(), ported.err
        assert drafts.code in (0, 1), drafts.err
    assert ended.code == 0, ended.err
    assert not checkout.trace.exists(), checkout.trace.read_text()


def test_file_that_only_a_filter_can_compare_is_named(knowledge, example, git, monkeypatch, tmp_path):
    root = example("point-backbone")
    (root / ".gitattributes").write_text("*.bin filter=mine\n")
    (root / "weights.bin").write_bytes(b"old")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    git(root, "config", "filter.mine.clean", f"touch {tmp_path}/ran")
    (root / "weights.bin").write_bytes(b"new bytes")
    repository = Repository(root, knowledge)
    plan = repository.plan(knowledge.gpu("gfx942"))

    with pytest.raises(UserError, match=r"may have uncommitted changes: .* compare weights\.bin$"):
        repository.apply(plan)
    (root / "setup.py").write_text("x = 1\n")
    with pytest.raises(UserError, match=r"has uncommitted changes: setup\.py$"):
        repository.apply(plan)
    repository.apply(plan, ApplyOptions(allow_dirty=True))
    assert not (tmp_path / "ran").exists()
