from __future__ import annotations

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.toolchain import own_headers
from rocm3d.verify.compilation.kit import CompileKit, find_kit


def test_without_a_toolchain_the_next_command_is_named(knowledge):
    """The cache of a test is empty."""
    with pytest.raises(MachineError, match="rocm3d toolchain prepare"):
        find_kit(knowledge.toolchains, None, None, None)


def test_an_interpreter_without_torch(knowledge, kits, tmp_path, monkeypatch):
    from rocm3d.verify.compilation import kit

    monkeypatch.setattr(kit, "find_compiler", lambda recipes: kits[1].compiler)
    interpreter = tmp_path / "python"
    interpreter.write_text('#!/bin/sh\necho \'{"torch": "", "include": "/x"}\'\n')
    interpreter.chmod(0o755)

    with pytest.raises(MachineError, match=f"^torch is not installed for {interpreter}$"):
        find_kit(knowledge.toolchains, None, None, interpreter)


def test_each_generation_of_hipify_has_its_torch(kits):
    assert [kits[n].torch.generation for n in (1, 2)] == [1, 2]
    assert kits[1].digest != kits[2].digest
    assert "hipify 1" in kits[1].label


def test_hip_headers_option_wins_over_declared_headers(kits, tmp_path):
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_fp16.h").touch()
    base = kits[1]
    kit_with_headers = CompileKit(base.compiler, base.torch, tmp_path, "d", base.roots)

    assert f"-I{own_headers.COMPLETED}" in base.search
    assert f"-I{own_headers.COMPLETED}" not in kit_with_headers.search
    assert kit_with_headers.search.index(f"-I{tmp_path}") < kit_with_headers.search.index(str(own_headers.DECLARED))
    assert "from --hip-headers" in kit_with_headers.label
