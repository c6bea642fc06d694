from __future__ import annotations

from pathlib import Path

from rocm3d.host.installed_torch import InterpreterInfo
from rocm3d.host.snapshot import read_interpreter


def distribution(site: Path, name: str, version: str) -> None:
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_interpreter_without_torch(tmp_path):
    interpreter = read_interpreter(Path("python"), InterpreterInfo("3.12", (tmp_path / "zip", tmp_path), tmp_path))

    assert (
        interpreter.torch,
        interpreter.hip,
        interpreter.cuda,
        interpreter.own_runtime,
        interpreter.distributions,
    ) == ("", "", "", False, ())


def test_torch_its_runtime_and_other_distributions(tmp_path):
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.6.0+rocm6.2.4'\nhip = '6.2.41134'\ncuda = None\n")
    (tmp_path / "torch" / "lib" / "libhsa-runtime64.so.1").write_text("")
    distribution(tmp_path, "triton", "3.2.0")
    distribution(tmp_path, "aiter", "0.13")

    interpreter = read_interpreter(Path("python"), InterpreterInfo("3.12", (tmp_path,), tmp_path))

    assert (interpreter.torch, interpreter.hip, interpreter.cuda, interpreter.own_runtime) == (
        "2.6.0+rocm6.2.4",
        "6.2.41134",
        "",
        True,
    )
    assert [(item.name, item.version) for item in interpreter.distributions] == [("aiter", "0.13"), ("triton", "3.2.0")]


def test_torch_of_cuda(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n")

    interpreter = read_interpreter(Path("python"), InterpreterInfo("3.12", (tmp_path,), tmp_path))

    assert (interpreter.hip, interpreter.cuda) == ("", "12.8")
