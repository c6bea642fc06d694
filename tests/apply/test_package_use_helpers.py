from __future__ import annotations

import os
import subprocess
from pathlib import Path

import libcst as cst
import pytest

from rocm3d.apply.package_use import (
    backend_branch,
    binds_torch,
    defined_names,
    helper_functions,
    parse_statements,
    positional_parameters,
)
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import parse_or_refuse

REFERENCE = Path(__file__).with_name("attention_reference.py")
CALLS = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "memory_efficient_attention",
]


def test_what_does_not_parse_is_refused():
    with pytest.raises(RewriteRefusedError, match="does not parse"):
        parse_or_refuse(b"def f(:\n")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("import torch\n", True),
        ("import os; import torch.nn\n", True),
        ("import torch.nn as nn\n", False),
        ("from torch import nn\n", False),
        ("if a:\n    import torch\n", False),
        ("import torchvision\n", False),
    ],
)
def test_torch_is_bound_by_an_import_that_always_runs(text, bound):
    assert binds_torch(cst.parse_module(text).body) is bound


def test_functions_come_with_their_callees_only():
    body = helper_functions(["flash_attn_func"], parse_statements("flag = True\n"))

    assert [line.name.value for line in body if isinstance(line, cst.FunctionDef)] == [
        "_sdpa",
        "_sdpa_only",
        "flash_attn_func",
    ]
    assert cst.Module([backend_branch(body, parse_statements("pass\n"))]).code.endswith(
        "\n\n    flag = True\nelse:\n    pass\n"
    )


def test_positional_parameters_of_a_helper():
    assert positional_parameters("flash_attn_func") == ("q", "k", "v", "dropout_p", "softmax_scale", "causal")


def test_defined_names_are_functions_and_classes():
    assert defined_names(cst.parse_module("def f():\n    def g(): pass\nclass A: pass\nx = 1\n")) == {"f", "A"}


def test_the_inserted_text_computes_what_a_float64_reference_computes(torch_python):
    text = cst.Module(
        [backend_branch(helper_functions(CALLS, []), parse_statements("raise SystemExit('not chosen')\n"))]
    ).code
    text = text.replace("torch.version.hip is not None", "True", 1)

    done = subprocess.run(
        [str(torch_python), str(REFERENCE), "cpu"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["cases", "504", "72", "12"]
