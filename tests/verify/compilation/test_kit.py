from __future__ import annotations

from rocm3d.toolchain import own_headers
from rocm3d.verify.compilation.kit import Kit, find_kit


def test_without_a_toolchain_it_says_what_to_do(knowledge):
    """The cache of a test is empty."""
    found = find_kit(knowledge.toolchains, None, None, None)

    assert isinstance(found, str)
    assert "rocm3d toolchain prepare" in found


def test_an_interpreter_without_torch(knowledge, kits, tmp_path, monkeypatch):
    from rocm3d.verify.compilation import kit

    monkeypatch.setattr(kit, "best", lambda recipes: kits[1].compiler)
    interpreter = tmp_path / "python"
    interpreter.write_text('#!/bin/sh\necho \'{"torch": "", "include": "/x"}\'\n')
    interpreter.chmod(0o755)

    assert find_kit(knowledge.toolchains, None, None, interpreter) == f"torch is not installed for {interpreter}"


def test_each_generation_of_hipify_has_its_torch(kits):
    assert [kits[n].torch.generation for n in (1, 2)] == [1, 2]
    assert kits[1].digest != kits[2].digest
    assert "hipify 1" in kits[1].label


def test_given_headers_win_over_declared_ones(kits, tmp_path):
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_fp16.h").touch()
    base = kits[1]
    given = Kit(base.compiler, base.torch, tmp_path, "d", base.roots)

    assert f"-I{own_headers.COMPLETED}" in base.search
    assert f"-I{own_headers.COMPLETED}" not in given.search
    assert given.search.index(f"-I{tmp_path}") < given.search.index(str(own_headers.DECLARED))
    assert "as given" in given.label
