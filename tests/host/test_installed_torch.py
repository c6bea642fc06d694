from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import pytest

from rocm3d.host.installed_torch import InstalledTorch, installed_stack, read_torch
from rocm3d.knowledge.load import load
from rocm3d.model.errors import MachineError, UserError

TODAY = date(2026, 11, 15)


@pytest.fixture(scope="module")
def knowledge():
    return load()


@pytest.fixture
def environment(tmp_path):
    """Creates a virtual environment, optionally with a torch; returns its interpreter."""

    def make(version: str | None) -> Path:
        root = tmp_path / ".venv"
        site = root / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        site.mkdir(parents=True)
        (root / "bin").mkdir()
        (root / "bin" / "python").symlink_to(Path(sys.executable).resolve())
        (root / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
        if version is not None:
            (site / "torch").mkdir()
            (site / "torch" / "__init__.py").write_text("raise SystemExit('imported')\n")
            (site / "torch" / "version.py").write_text(version)
        return root / "bin" / "python"

    return make


def test_an_interpreter_that_does_not_run(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    broken.chmod(0o755)

    with pytest.raises(MachineError, match="does not run: no"):
        read_torch(broken)


def test_no_torch(environment):
    with pytest.raises(MachineError, match="has no torch"):
        read_torch(environment(None))


def test_torch_is_read_and_not_imported(environment):
    torch = read_torch(
        environment("from typing import Optional\n__version__ = '2.9.1+rocm6.4'\nhip: Optional[str] = '6.4.43482'\n")
    )

    assert torch == InstalledTorch("2.9.1+rocm6.4", "6.4.43482", f"3.{sys.version_info.minor}")
    assert torch.rocm == "6.4"


@pytest.mark.parametrize(
    "text", ["", "(", "__version__ = f()\nhip = None\n", "__version__ = '2.1.0+cu118'\nhip = None\n"]
)
def test_torch_without_hip_cannot_be_kept(environment, knowledge, text):
    torch = read_torch(environment(text))

    with pytest.raises(UserError, match="is not a ROCm build"):
        installed_stack(torch, knowledge.gpu("mi300x"), "linux", TODAY, knowledge.stacks.values())


def test_invalid_torch_version_is_refused(knowledge):
    with pytest.raises(UserError, match="has an invalid version"):
        installed_stack(InstalledTorch("odd!", "6.4", "3.12"), knowledge.gpu("mi300x"), "linux", TODAY, [])


@pytest.mark.parametrize(
    ("version", "hip", "rocm", "torch"),
    [
        ("2.9.1+rocm6.4", "6.4.43482-0f2d60242", "6.4", "2.9.1"),
        ("2.8.0a0+gitabc", "7.0.51831", "7.0", "2.8.0"),
        ("2.13.0+rocm10.0.0", "10.0.12345", "10.0.0", "2.13.0"),
        ("2.10.0.dev20260101+rocm7.2", "7.2.1", "7.2", "2.10.0"),
    ],
)
def test_any_rocm_form_becomes_a_stack(knowledge, version, hip, rocm, torch):
    gpu = knowledge.gpu("gfx1151")

    stack = installed_stack(InstalledTorch(version, hip, "3.12"), gpu, "wsl", TODAY, knowledge.stacks.values())

    assert (stack.id, stack.rocm, stack.torch, stack.python) == ("installed", rocm, torch, "3.12")
    assert (stack.gfx, stack.platforms) == (("gfx1151",), ("wsl",))


def test_hipify_is_that_of_the_nearest_older_torch(knowledge):
    def hipify(version):
        return installed_stack(
            InstalledTorch(version, "7.2", "3.12"), knowledge.gpu("mi300x"), "linux", TODAY, knowledge.stacks.values()
        ).hipify

    assert hipify("2.13.1+rocm10.0.0") == 2
    assert hipify("2.8.0+rocm7.0") == 1
    assert hipify("1.0.0+rocm7.0") == 1
