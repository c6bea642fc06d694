from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.open_toolkit_check import edit
from rocm3d.syntax.isolation import prove_isolation

HEAD = "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
NAMES = {"names": ["CUDA_HOME"]}
FLAG = "\nis_rocm = torch.version.hip is not None\n"


@pytest.mark.parametrize(
    "code",
    [
        "",
        "x = CUDA_HOME\n",
        "if CUDA_HOME:\n    pass\n",
        "if CUDA_HOME == None:\n    pass\n",
        "if HOME is None:\n    pass\n",
        "if CUDA_HOME is not None or torch.version.hip is not None:\n    pass\n",
        "if CUDA_HOME is None and torch.version.hip is None:\n    pass\n",
        "if torch.version.hip:\n    x = CUDA_HOME is None\n",
        "x = CUDA_HOME is not None or ROCM_HOME is not None\n",
        "x = 'CUDA_HOME is None'  # CUDA_HOME is None\n",
        "x = None is CUDA_HOME is None\n",
    ],
)
def test_stays_untouched(code):
    data = (HEAD + code).encode()
    assert edit(data, NAMES) == data


@pytest.mark.parametrize(
    "data",
    [
        b"if CUDA_HOME is None:\n    pass\n",
        b"def f():\n    import torch\n    return CUDA_HOME is None\n",
        b"if CUDA_HOME is None:\n    pass\nimport torch\n",
        b"import torch\nis_rocm = 1\nx = CUDA_HOME is None\n",
        b"import torch\nx = CUDA_HOME is None\nif:\n",
        b"import torch\nprint 'x', CUDA_HOME is None\n",
        b"import torch\nx = '\xff'\ny = CUDA_HOME is None\n",
        b"import torch\nx = CUDA_HOME is None\nis_rocm = torch.version.hip is not None\n",
    ],
)
def test_unsupported_code_is_refused(data):
    with pytest.raises(RewriteRefusedError):
        edit(data, NAMES)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("if CUDA_HOME is not None:\n    pass\n", "if CUDA_HOME is not None or is_rocm:\n    pass\n"),
        ("if CUDA_HOME is None:\n    pass\n", "if CUDA_HOME is None and not is_rocm:\n    pass\n"),
        ("if a and CUDA_HOME is not None:\n    pass\n", "if a and (CUDA_HOME is not None or is_rocm):\n    pass\n"),
        ("if not CUDA_HOME is None:\n    pass\n", "if not (CUDA_HOME is None and not is_rocm):\n    pass\n"),
        ("if(CUDA_HOME is None):\n    pass\n", "if(CUDA_HOME is None) and not is_rocm:\n    pass\n"),
        ("x = ext.CUDA_HOME is not None\n", "x = ext.CUDA_HOME is not None or is_rocm\n"),
        ("f(CUDA_HOME is not None)\n", "f(CUDA_HOME is not None or is_rocm)\n"),
        ("assert CUDA_HOME is not None, 'x'\n", "assert (CUDA_HOME is not None or is_rocm), 'x'\n"),
        ("x = 1 if CUDA_HOME is None else 2\n", "x = 1 if (CUDA_HOME is None and not is_rocm) else 2\n"),
        ("def f():\n\treturn CUDA_HOME is None\n", "def f():\n\treturn CUDA_HOME is None and not is_rocm\n"),
        ("x = [y for y in z if CUDA_HOME is None]\n", "x = [y for y in z if (CUDA_HOME is None and not is_rocm)]\n"),
        ("while CUDA_HOME is None:\n    pass", "while CUDA_HOME is None and not is_rocm:\n    pass"),
    ],
)
def test_accepts_rocm(code, expected):
    before, after = (HEAD + code).encode(), (HEAD + FLAG + expected).encode()
    assert edit(before, NAMES) == after
    assert edit(after, NAMES) == after
    assert ast.parse(after).body
    proof = prove_isolation("setup.py", before, after)
    assert proof.holds, proof.detail


def test_preserves_carriage_returns():
    before = (HEAD + "if CUDA_HOME is None:\n    pass\n").replace("\n", "\r\n").encode()
    after = edit(before, NAMES)
    assert after.count(b"\r\n") == after.count(b"\n")
    assert prove_isolation("setup.py", before, after).holds


def test_preserves_a_byte_order_mark():
    before = b"\xef\xbb\xbf" + (HEAD + "x = CUDA_HOME is None\n").encode()
    after = proven_edit(edit, before, NAMES, "setup.py")
    assert after.startswith(b"\xef\xbb\xbf")


def test_preserves_a_declared_encoding():
    before = b"# -*- coding: latin-1 -*-\n" + HEAD.encode() + b"a = '\xe9'\nx = CUDA_HOME is None\n"
    after = edit(before, NAMES)
    assert b"'\xe9'" in after
    assert prove_isolation("setup.py", before, after).holds


GATES = st.sampled_from(
    ["CUDA_HOME is None", "CUDA_HOME is not None", "ext.CUDA_HOME is None", "not (CUDA_HOME is None)"]
)
TEMPLATES = st.sampled_from(
    [
        "if {}:\n    a()",
        "if a and {}:\n    b()\nelif {}:\n    c()",
        "x = {}",
        "def f(y={}):\n    return {}",
        "f({}, k={})",
        "x = [{}, {}]",
        "assert {}",
        "x = 1 if {} else 2",
        "while a or {}:\n    break",
        "x = lambda: {}",
        "x = {} and b",
        "class A:\n    x = {}",
        "x = f'{{{}}}'",
        "a()",
        "import os",
        "x = {{'k': {}}}",
        "if torch.version.hip is not None:\n    x = {}",
    ]
)
HEADS = st.sampled_from(
    [
        HEAD,
        "from torch.utils.cpp_extension import CUDA_HOME\n",
        "import torch.nn as nn\nimport os\n",
        '"""Doc."""\nimport os; import torch\n',
    ]
)


@given(HEADS, st.lists(st.tuples(TEMPLATES, GATES), max_size=5), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_any_edit_is_proven_and_idempotent(head, parts, newline, final):
    lines = head + "\n".join(template.format(gate, gate) for template, gate in parts) + ("\n" if final else "")
    data = lines.replace("\n", newline).encode()
    after = edit(data, NAMES)
    assert edit(after, NAMES) == after
    if after != data:
        proof = prove_isolation("setup.py", data, after)
        assert proof.holds, (proof.detail, after)
        assert after.endswith(newline.encode()) == data.endswith(newline.encode())
