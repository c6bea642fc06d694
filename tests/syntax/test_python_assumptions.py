"""What isolation_cases does not show: source that python_problem reads but that no case has."""

from __future__ import annotations

import pytest

from rocm3d.syntax.isolation_facts import IsolationFacts
from rocm3d.syntax.python_assumptions import python_problem

BEFORE = "import torch\n{}x = 1\n"
AFTER = "import torch\n{}x = 2 if torch.version.hip is not None else 1\n"


def problem(text: str) -> str | None:
    return python_problem("a.py", BEFORE.format(text).encode(), AFTER.format(text).encode(), IsolationFacts())


@pytest.mark.parametrize(
    "text",
    ["with a as torch:\n    pass\n", "try:\n    a\nexcept E as torch:\n    pass\n", "def torch(): pass\n",
     "from a import torch\n", "import a as torch\n", "(torch := a)\n", "for torch in a:\n    pass\n",
     "globals().pop('torch')\n", "globals().update(a)\n", "vars()['torch'] = 1\n", "exec(a)\n",
     "sys.modules[__name__].torch = 1\n", "def f():\n    nonlocal_ = 1\n    global torch\n"],
)  # fmt: skip
def test_other_bindings_of_torch(text):
    assert "P3" in (problem(text) or "")


@pytest.mark.parametrize(
    "text",
    ["import torch.nn\n", "exec(a, {})\n", "eval(a)\n", "globals().update(b=1)\n", "def f(torch): pass\n",
     "a.torch = 1\n",
     "def f():\n    torch = 1\n", "print(globals()[name])\n"],
)  # fmt: skip
def test_no_binding_of_torch_in_the_module(text):
    assert problem(text) is None


def test_a_change_of_comments_is_no_edit():
    assert python_problem("a.py", b"del torch\n", b"del torch  # x\n", IsolationFacts()) is None
