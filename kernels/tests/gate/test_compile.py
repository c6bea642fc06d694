from __future__ import annotations

import json
import os
from dataclasses import dataclass

import pytest

pytest.importorskip("elftools", reason="needs pyelftools and msgpack")
pytest.importorskip("msgpack", reason="needs pyelftools and msgpack")

from gate import compile as compiling
from gate.code_object import CodeObject, read

from rocm3d_kernels.gate_kernel import GateKernel

VALID_CODE_OBJECT = {"target": "gfx942", "wave": 64, "vgprs": 9, "sgprs": 9, "spills": 0, "scratch": 0, "lds": 0}


@dataclass
class FakeKernel:
    __name__: str = "kernel"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"target": "gfx90a"}, "compiled for gfx90a"),
        ({"wave": 32}, "compiled for wave size 32"),
        ({"spills": 3}, "3 registers spilled, 2 allowed"),
        ({"lds": 65537}, "65537 bytes of LDS"),
        ({"spills": 2}, ""),
    ],
)
def test_problems_of_a_code_object(change, text):
    kernel = GateKernel("blur", FakeKernel(), {}, spills=2)

    assert compiling.problem(kernel, "gfx942", CodeObject(**{**VALID_CODE_OBJECT, **change})).startswith(text)
    assert bool(text) == bool(compiling.problem(kernel, "gfx942", CodeObject(**{**VALID_CODE_OBJECT, **change})))


def test_invalid_code_object_is_rejected():
    with pytest.raises(Exception, match="Magic number"):
        read(b"no elf")


def test_kernel_is_compiled_and_read_back(python):
    """The smallest kernel, for one target of each wave size."""
    path = (compiling.__file__.rsplit("/", 2)[0],)
    program = (
        "import json; from gate.compile import declared_kernels, row; "
        "item = declared_kernels('knn')[0]; print(json.dumps([row(item, name) for name in ('gfx942', 'gfx1100')]))"
    )
    rows = json.loads(python(program, path=path, TRITON_DEFAULT_FP_FUSION="1", HOME=os.environ["HOME"]))

    assert [(row["target"], row["wave"], row["problem"]) for row in rows] == [("gfx942", 64, ""), ("gfx1100", 32, "")]


def test_gate_compiles_the_same_code_as_a_launch(python):
    """For tensors that are aligned and below 2 GiB: wide buffer loads."""
    path = (compiling.__file__.rsplit("/", 2)[0],)
    program = (
        "import re; from gate.compile import compile_kernel, declared_kernels; "
        "text = compile_kernel(declared_kernels('harmonics')[0], 'gfx942').asm['amdgcn']; "
        "print(len(re.findall('buffer_load', text)) > 9, re.search('global_(load|store)', text) is None)"
    )

    assert python(program, path=path, HOME=os.environ["HOME"]).split() == ["True", "True"]
