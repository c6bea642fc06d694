"""No command starts a program that the configuration of a repository names."""

from __future__ import annotations

import contextlib
import sys

import pytest
from hostile_git import ATTACKS, hostile_checkout, make_stale

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


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    "options", [("--into", "COPY"), ("--into", "COPY", "--with-git"), ("--allow-dirty",)], ids=" ".join
)
def test_no_fetch_starts_a_program_of_git(rocm3d, tmp_path, git, attack, options):
    """A submodule that is not checked out, in a repository with the attack; its own settings name the program, too."""
    (tmp_path / "hostile").mkdir()
    checkout = hostile_checkout(tmp_path / "hostile", attack)
    root, served = checkout.root, tmp_path / "served"
    served.mkdir()
    (served / "a.cu").write_text(KERNEL)
    (served / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    git(served, "init", "-q", "-b", "main")
    git(served, "add", "-A")
    git(served, "commit", "-qm", "start")
    commit = git(served, "rev-parse", "HEAD").strip()
    with (root / ".gitmodules").open("a") as stream:
        stream.write(f'[submodule "m"]\npath = m\nurl = file://{served}\nupdate = !{checkout.program}\n')
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{commit},m")
    with (root / ".git" / "config").open("a") if (root / ".git").is_dir() else contextlib.nullcontext() as stream:
        if stream:
            stream.write(
                f'[submodule "m"]\nactive = true\nupdate = !{checkout.program}\nfetchRecurseSubmodules = true\n'
            )
    checkout.trace.unlink(missing_ok=True)
    (tmp_path / "user").write_text('[protocol "file"]\n\tallow = always\n')
    words = [str(tmp_path / "copy") if word == "COPY" else word for word in options]
    environment = {"GIT_CONFIG_GLOBAL": str(tmp_path / "user"), "GIT_CONFIG_NOSYSTEM": "1"}

    ended = rocm3d("port", root, "--gpu", "mi300x", "--submodules", *words, env=environment)

    assert ended.code in (0, 1, 2), ended.err
    if options == ("--into", "COPY"):
        assert (tmp_path / "copy" / "m" / "a.cu").exists(), ended.err
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
