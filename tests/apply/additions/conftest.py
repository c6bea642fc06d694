"""A temporary environment with a stub of torch, local wheels, and repositories to install into it."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocm3d.apply.addition import additions
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree

TORCH = "2.6.0+rocm6.4.3"


def wheel(folder: Path, name: str, version: str, *requires: str, files: dict[str, str] | None = None) -> Path:
    """A wheel of metadata, with a few files."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    contents = {
        **({f"{name.replace('-', '_')}/__init__.py": ""} if files is None else files),
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        + "".join(f"Requires-Dist: {entry}\n" for entry in requires),
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in contents.items())
    contents[f"{stem}.dist-info/RECORD"] = record + f"{stem}.dist-info/RECORD,,\n"
    file = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
    return file


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def torch_wheel(folder: Path, version: str, hip: str | None = "6.4.43484") -> Path:
    files = {
        "torch/__init__.py": "raise ImportError('nobody needs to import it')\n",
        "torch/version.py": f"from typing import Optional\n__version__ = {version!r}\nhip: Optional[str] = {hip!r}\n",
    }
    return wheel(folder, "torch", version, files=files)


# A build backend of its own: a project that needs nothing to be built, with or without the environment around it.
BACKEND = """
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    stem = "{name}-1.0"
    with zipfile.ZipFile(os.path.join(folder, stem + "-py3-none-any.whl"), "w") as archive:
        archive.writestr("{name}.py", {text!r})
        said = "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n{requires}"
        archive.writestr(stem + ".dist-info/METADATA", said)
        archive.writestr(stem + ".dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(stem + ".dist-info/RECORD", "")
    {extra}
    return stem + "-py3-none-any.whl"
build_editable = build_wheel
"""


def project(folder: Path, name: str, *, build: str = "", text: str = "", requires: str = "", extra: str = "") -> Path:
    """An installable folder. `build` goes into build-system.requires, `extra` runs while it is built."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["[build-system]", f"requires = [{build}]", 'build-backend = "backend"', 'backend-path = ["."]']
    (folder / "pyproject.toml").write_text("\n".join([*lines, "[project]", f'name = "{name}"', 'version = "1.0"', ""]))
    needs = f"Requires-Dist: {requires}\\n" if requires else ""
    (folder / "backend.py").write_text(BACKEND.format(name=name, text=text, requires=needs, extra=extra or "pass"))
    return folder


@dataclass
class Machine:
    """An environment to install into, and a folder of wheels that stands for the default index."""

    python: Path
    wheels: Path
    root: Path

    def render(self, plan: Plan, folder: str = "rocm-port") -> None:
        """What apply would write."""
        tree = Tree.open(self.root, excluded_folders=frozenset({folder}))
        for render in additions().values():
            for path, data in render(plan, tree, folder).items():
                file = self.root / folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)

    def install(self, *arguments: str, folder: str = "rocm-port", cwd: Path | None = None, **env: str):
        """Run the script as a person would, from anywhere."""
        values = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root.parent),
            "PYTHON": str(self.python),
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "ROCM3D_ALLOW_UNLOCKED": "1",
            **env,
        }
        command = ["bash", str(self.root / folder / "install.sh"), *arguments]
        where = cwd or self.root.parent
        return subprocess.run(command, capture_output=True, text=True, env=values, cwd=where, check=False)

    def pip(self, *arguments: str) -> str:
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", *arguments]
        env = {**os.environ, "PIP_CONFIG_FILE": "/dev/null"}
        return subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout

    def versions(self) -> dict[str, str]:
        listed = self.pip("list", "--format=freeze").split()
        return dict(line.split("==") for line in listed)


@pytest.fixture(scope="session")
def prepared_environment(tmp_path_factory) -> Path:
    """An environment with pip and stubs of the base packages, to be copied."""
    base = tmp_path_factory.mktemp("base")
    venv.create(base / "environment", with_pip=True)
    places = [torch_wheel(base, TORCH), wheel(base, "torchvision", "0.21.0+rocm6.4.3")]
    places.append(wheel(base, "pytorch-triton-rocm", "3.2.0", files={"triton/__init__.py": ""}))
    Machine(base / "environment" / "bin" / "python", base, base).pip("install", "--no-index", *map(str, places))
    return base / "environment"


def copy_or_link(source: str, target: str) -> None:
    """pip itself, a thousand files that no test writes into, is shared."""
    (os.link if f"{os.sep}site-packages{os.sep}pip{os.sep}" in source else shutil.copy2)(source, target)


@pytest.fixture
def machine(tmp_path, prepared_environment) -> Machine:
    """A new environment for each test: what one poisons, no other sees."""
    shutil.copytree(prepared_environment, tmp_path / "an environment", symlinks=True, copy_function=copy_or_link)
    wheels, root = tmp_path / "wheels", tmp_path / "a repository"
    root.mkdir()
    for name in ("wheel", "ninja", "packaging", "numpy", "tqdm"):
        wheel(wheels, name, "1.0")
    wheel(wheels, "setuptools", "70.0")
    return Machine(tmp_path / "an environment" / "bin" / "python", wheels, root)


@pytest.fixture
def make_wheel() -> Callable[..., Path]:
    return wheel


@pytest.fixture
def make_torch() -> Callable[..., Path]:
    return torch_wheel


@pytest.fixture
def make_project() -> Callable[..., Path]:
    return project


@pytest.fixture
def make_clone(tmp_path) -> Callable[..., tuple[str, str]]:
    """A git repository from a folder: its address and its commit."""

    def commit(folder: Path) -> tuple[str, str]:
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
        for name in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{name}_NAME": "a", f"GIT_{name}_EMAIL": "a@b"}

        def git(*arguments: str) -> str:
            command = ["git", "-C", str(folder), *arguments]
            return subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout.strip()

        if not (folder / ".git").exists():
            git("init", "-q", "-b", "main")
        git("add", "-A")
        git("commit", "-qm", "x")
        return folder.as_uri(), git("rev-parse", "HEAD")

    return commit


def python_version() -> str:
    return ".".join(map(str, sys.version_info[:2]))


@pytest.fixture
def make_stack() -> Callable[..., dict[str, object]]:
    """A base that the stand-in satisfies."""

    def stack(**more: object) -> dict[str, object]:
        return {
            "id": "stand-in",
            "title": "stand-in",
            "platforms": ["linux"],
            "form": "container",
            "rocm": "6.4.3",
            "torch": "2.6.0",
            "python": python_version(),
            "image": "rocm/pytorch:tag",
            "gfx": ["gfx942"],
            "released": "2025-08-07",
            "checked": "2026-11-15",
            "confidence": "reported",
            "sources": [{"where": "here", "says": "so"}],
            **more,
        }

    return stack
