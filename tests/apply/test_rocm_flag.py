from __future__ import annotations

import subprocess
import sys

import libcst as cst
import pytest

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit
from rocm3d.syntax.isolation import prove_isolation

FLAG = "is_rocm = torch.version.hip is not None"


class Mark(GuardedEdit):
    """Turns the number 7 into a choice."""

    def leave_Integer(self, original_node: cst.Integer, updated_node: cst.Integer) -> cst.BaseExpression:  # noqa: N802
        if original_node.value != "7" or self.is_guarded(original_node):
            return updated_node
        self.record_edit(original_node)
        return cst.IfExp(cst.Name("is_rocm"), cst.Integer("8"), updated_node)


def marked(code: str) -> str:
    return run_guarded_edit(code.encode(), Mark()).decode()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("x = 7\n", "not imported"),
        ("def f():\n    import torch\nx = 7\n", "not imported"),
        ("try:\n    import torch\nexcept ImportError:\n    pass\nx = 7\n", "not imported"),
        ("from .torch import a\nx = 7\n", "not imported"),
        ("import torchvision\nx = 7\n", "not imported"),
        ("x = 7\nimport torch\n", "before the imports"),
        ("import torch; x = 7\n", "before the imports"),
        ("import a\nx = 7\nimport b\nimport torch\ny = 7\n", "before the imports"),
        ("import torch\nis_rocm = False\nx = 7\n", "for something else"),
        ("import torch\nf(is_rocm)\nx = 7\n", "for something else"),
        ("import torch\nx = 7 +\n", "does not parse"),
        ("import torch\nx = 7\n\0", "does not parse"),
        (f"import torch\nx = 7\n{FLAG}\n", "before"),
        ("import torch\nfrom ops import *\nx = 7\n", "star import"),
        ("from torch import *\nx = 7\n", "star import"),
        (
            "try:\n    import torch\nexcept ImportError:\n    torch = None\nfrom torch.nn import L\nx = 7\n",
            "something other",
        ),
        ("from torch.nn import L\nif a:\n    import torch\nx = 7\n", "something other"),
    ],
)
def test_refuses(code, reason):
    with pytest.raises(RewriteRefusedError, match=reason):
        marked(code)


def test_refuses_bytes_in_another_coding():
    with pytest.raises(RewriteRefusedError, match="does not parse"):
        run_guarded_edit(b"import torch\nx = '\xff', 7\n", Mark())


def test_refuses_deep_nesting_instead_of_crashing():
    """In a process of its own: libcst's parser overflows its stack on this, which no `except` catches."""
    code = (
        "from rocm3d.apply.rocm_flag import GuardedEdit, run_guarded_edit\n"
        "from rocm3d.apply.rewrite import RewriteRefusedError\n"
        "try:\n"
        "    run_guarded_edit(b'import torch\\nx = ' + b'(' * 10_000 + b'7' + b')' * 10_000, GuardedEdit())\n"
        "except RewriteRefusedError:\n"
        "    print('refused')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, "refused")


def test_refuses_an_unknown_coding():
    with pytest.raises(RewriteRefusedError, match="does not parse"):
        run_guarded_edit(b"# coding: klingon\nimport torch\nx = 7\n", Mark())


@pytest.mark.parametrize("code", ["", "import torch\n", "x = 6\n", f"import torch\n{FLAG}\nx = 8 if is_rocm else 7\n"])
def test_unchanged_bytes_where_nothing_is_edited(code):
    assert marked(code) == code


NEW = "8 if is_rocm else 7"
PLACES = {
    "behind torch": ("import torch\nx = 7\n", f"import torch\n\n{FLAG}\nx = {NEW}\n"),
    "docstring": ('"""Doc."""\nimport torch\nx = 7\n', f'"""Doc."""\nimport torch\n\n{FLAG}\nx = {NEW}\n'),
    "future": (
        "from __future__ import annotations\n\nimport torch\n\nx = 7\n",
        f"from __future__ import annotations\n\nimport torch\n\n{FLAG}\n\nx = {NEW}\n",
    ),
    "one line of imports": ("import a; import torch\nx = 7\n", f"import a; import torch\n\n{FLAG}\nx = {NEW}\n"),
    "imports and more on one line": ("import torch; a = 1\nx = 7\n", f"import torch; a = 1\n\n{FLAG}\nx = {NEW}\n"),
    "behind the block of imports": (
        "import torch\nimport b\nx = 7\n",
        f"import torch\nimport b\n\n{FLAG}\nx = {NEW}\n",
    ),
    "torch in the middle": (
        "import a\nb = 1\nimport torch\nc = 2\nimport d\nx = 7\n",
        f"import a\nb = 1\nimport torch\n\n{FLAG}\nc = 2\nimport d\nx = {NEW}\n",
    ),
    "alias does not bind torch": (
        "import torch.nn as nn\nx = 7\n",
        f"import torch.nn as nn\nimport torch\n\n{FLAG}\nx = {NEW}\n",
    ),
    "torch under another name": (
        "import torch as th\nx = 7\n",
        f"import torch as th\nimport torch\n\n{FLAG}\nx = {NEW}\n",
    ),
    "from does not bind torch": (
        "from torch import nn\nx = 7\n",
        f"from torch import nn\nimport torch\n\n{FLAG}\nx = {NEW}\n",
    ),
    "submodule binds torch": ("import torch.nn\nx = 7\n", f"import torch.nn\n\n{FLAG}\nx = {NEW}\n"),
    "comment above": (
        "# licence\nimport torch\n\n# about x\nx = 7\n",
        f"# licence\nimport torch\n\n{FLAG}\n\n# about x\nx = {NEW}\n",
    ),
    "flag is there": (f"import torch\n{FLAG}\nx = 7\n", f"import torch\n{FLAG}\nx = {NEW}\n"),
    "inside a function above nothing": (
        "import torch\ndef f():\n\treturn 7",
        f"import torch\n\n{FLAG}\ndef f():\n\treturn {NEW}",
    ),
    "torch bound later": (
        "from torch import nn\na = 1\nimport torch\nx = 7\n",
        f"from torch import nn\na = 1\nimport torch\n\n{FLAG}\nx = {NEW}\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), PLACES.values(), ids=PLACES)
def test_defines_the_flag(before, after):
    assert marked(before) == after
    assert marked(after) == after
    proof = prove_isolation("x.py", before.encode(), after.encode())
    assert proof.holds, proof.detail


def test_carriage_returns_are_preserved():
    after = marked("from torch import nn\r\nx = 7\r\n")
    assert after == f"from torch import nn\r\nimport torch\r\n\r\n{FLAG}\r\nx = {NEW}\r\n"


def test_an_import_in_a_function_does_not_stop_the_proof():
    before = "from torch import nn\ndef f():\n    import torch\nx = 7\n"
    proof = prove_isolation("x.py", before.encode(), marked(before).encode())
    assert proof.holds, proof.detail
