"""Port compiles in a sandbox: for both wave sizes, within a budget, and whatever the build script tries."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import pytest

from rocm3d.repository import Repository
from rocm3d.verify.compilation import session
from rocm3d.verify.compilation.compile_options import Budget
from rocm3d.verify.compilation.session import CompileRequest, compile_repository
from rocm3d.workspace.sandbox import unavailable_reason
from rocm3d.workspace.tree import Tree

needs_sandbox = pytest.mark.skipif(bool(unavailable_reason()), reason=f"not run: no sandbox: {unavailable_reason()}")
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(ext_modules=[CUDAExtension("p._C", {sources})])
"""
KERNEL = "#include <cuda_runtime.h>\n__global__ void k(float* x) {{ x[0] = {number}; }}\n"
HOSTILE = """
import os, socket, subprocess
def attempt(action):
    try:
        action()
    except OSError:
        pass
for path in {paths}:
    attempt(lambda: open(path, "w").write("owned"))
attempt(lambda: socket.create_connection(("127.0.0.1", {port}), 1).sendall(b"owned"))
subprocess.Popen(["sleep", "3600"], start_new_session=True, env={{"LEFT": "by-{pid}"}})
"""


@pytest.fixture
def prepared(kits, monkeypatch):
    """Commands find the toolchain."""
    monkeypatch.setenv("ROCM3D_CACHE", str(kits[1].roots[0].parents[1]))


def write_repository(root: Path, count: int = 1, before: str = "") -> Path:
    root.mkdir()
    names = [f"k{number}.cu" for number in range(count)]
    (root / "setup.py").write_text(before + SETUP.format(sources=names))
    for number, name in enumerate(names):
        (root / name).write_text(KERNEL.format(number=number))
    return root


def compile_verdicts(root: Path) -> dict[tuple[str, str], dict]:
    document = json.loads((root / ".rocm3d" / "verdicts.json").read_text())
    return {
        (item["subject"], item["target"]): item
        for item in document["verdicts"]
        if item["probe"] == "compile_extensions"
    }


@needs_sandbox
@pytest.mark.usefixtures("prepared")
def test_an_example_is_compiled_for_both_wave_sizes(rocm3d, example, tmp_path):
    ended = rocm3d("port", example("deform-op"), "--gpu", "mi300x", "--into", tmp_path / "ported", "--review")

    assert ended.code == 0, ended.err
    outcomes = {key: item["outcome"] for key, item in compile_verdicts(tmp_path / "ported").items()}
    unit = "src/sample_kernel.cu (deform_op._ext)"
    assert {(unit, target): "passed" for target in ("gfx942", "gfx1100", "host")}.items() <= outcomes.items()
    assert set(outcomes.values()) == {"passed"}


@needs_sandbox
@pytest.mark.usefixtures("prepared")
def test_a_hostile_build_script_reaches_nothing_and_its_code_is_compiled(rocm3d, tmp_path, snapshot):
    marks = [tmp_path / "mark", Path.home() / "rocm3d-mark-of-a-test", tmp_path / "repository" / "setup.py"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        hostile = HOSTILE.format(paths=list(map(str, marks)), port=server.getsockname()[1], pid=os.getpid())
        root = write_repository(tmp_path / "repository", before=hostile)
        before = snapshot(root)
        rocm3d("port", root, "--gpu", "mi300x", "--into", tmp_path / "ported")
        with pytest.raises(BlockingIOError):
            server.accept()

    assert snapshot(root) == before
    assert not any(mark.exists() for mark in marks[:2])
    outcomes = {key: item["outcome"] for key, item in compile_verdicts(tmp_path / "ported").items()}
    assert outcomes["k0.cu (p._C)", "gfx942"] == "passed"


@pytest.mark.usefixtures("prepared")
def test_a_compiler_that_runs_code_of_the_repository_reaches_nothing(rocm3d, tmp_path):
    """`-include` of a file outside, and a macro that takes its text into an error message."""
    secret = tmp_path / "secret.h"
    secret.write_text("#error the text of a secret\n")
    root = write_repository(tmp_path / "repository")
    (root / "k0.cu").write_text(f'#include "{secret}"\n' + KERNEL.format(number=0))
    rocm3d("port", root, "--gpu", "mi300x", "--into", tmp_path / "ported")

    texts = "".join(path.read_text() for path in (tmp_path / "ported" / ".rocm3d").glob("*.json"))
    if not unavailable_reason():
        assert "the text of a secret" not in texts


@pytest.fixture
def path_without_bubblewrap(tmp_path):
    """A PATH with git alone."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git"))
    return str(folder)


@pytest.mark.usefixtures("prepared")
def test_without_a_sandbox_nothing_runs_unless_an_option_allows_it(rocm3d, tmp_path, path_without_bubblewrap):
    root = write_repository(tmp_path / "repository", before=f"open({str(tmp_path / 'mark')!r}, 'w').close()\n")
    env = {"PATH": path_without_bubblewrap}

    rocm3d("port", root, "--gpu", "mi300x", "--into", tmp_path / "one", env=env)
    (verdict,) = compile_verdicts(tmp_path / "one").values()

    assert verdict["outcome"] == "not_run"
    assert verdict["reason"].startswith("no sandbox: bwrap is not installed (Debian package bubblewrap). ")
    assert verdict["reason"].endswith("rocm3d verify . --level compile")
    assert not (tmp_path / "mark").exists()

    rocm3d("port", root, "--gpu", "mi300x", "--into", tmp_path / "two", "--compile", env=env)
    assert {item["outcome"] for item in compile_verdicts(tmp_path / "two").values()} == {"passed"}
    assert (tmp_path / "mark").exists()


@pytest.mark.usefixtures("prepared")
def test_a_target_that_the_toolchain_cannot_build_is_not_run(rocm3d, tmp_path):
    root = write_repository(tmp_path / "repository")
    rocm3d("port", root, "--gpu", "gfx1010", "--into", tmp_path / "ported", "--compile")

    verdicts = compile_verdicts(tmp_path / "ported")
    assert verdicts["", "gfx1010"]["outcome"] == "not_run"
    assert "does not compile for this target, only for gfx90a, gfx942" in verdicts["", "gfx1010"]["reason"]
    assert verdicts["k0.cu (p._C)", "gfx942"]["outcome"] == "passed"


class OneUnit(Budget):
    """A budget that ends when this many compiles are done."""

    def __init__(self, compiles: list) -> None:
        super().__init__(600)
        self.compiles = compiles

    @property
    def remaining(self) -> float:
        return 0.0 if len(self.compiles) >= 2 else 600.0


def test_a_budget_that_ends_leaves_the_rest_for_the_next_run(tmp_path, knowledge, kit, monkeypatch):
    root = write_repository(tmp_path / "repository", 3)
    extensions = Repository(root, knowledge, work=tmp_path / "work").scan().inventory.extensions
    compiled, compile_unit = [], session.HipUnitCompiler.compile

    def compile_and_count(self, unit, side):
        result = compile_unit(self, unit, side)
        if result.result.outcome == "compiled":
            compiled.append((unit.source, side))
        return result

    monkeypatch.setattr(session.HipUnitCompiler, "compile", compile_and_count)
    monkeypatch.setattr("rocm3d.verify.compilation.content_cache.cores", lambda: 1)

    def outcomes(budget):
        request = CompileRequest(Tree.open(root), extensions, ("gfx942",), knowledge, budget=budget)
        units = compile_repository(request, kit).units
        return [side.outcome for unit in units for side in unit.sides.values()]

    assert outcomes(OneUnit(compiled)) == ["compiled"] * 2 + ["cut_off"] * 4
    assert outcomes(Budget()) == ["compiled"] * 6
    assert compiled == [(f"k{number}.cu", side) for number in range(3) for side in ("gfx942", "host")]
