from __future__ import annotations

from pathlib import Path

import fault_operators
import pytest
from fault_operators import (
    Fault,
    NodeContext,
    SourceEdit,
    compiles_differently,
    fault_of_edit,
    find_edit,
    possible_edits,
)
from hypothesis import given
from hypothesis import strategies as st

SOURCE = Path(fault_operators.__file__).parents[1] / "src" / "rocm3d"
FAULT = Fault("src/rocm3d/a.py", 3, "return 1", 0, "integer", 7, "return 2")


@pytest.mark.parametrize(
    ("before", "after", "operator"),
    [
        ("a < b", "a <= b", "comparison"),
        ("a >= b", "a > b", "comparison"),
        ("(a) == (b)", "(a) != (b)", "comparison"),
        ("a in b", "a not in b", "comparison"),
        ("a not  in b", "a in b", "comparison"),
        ("a is not b", "a is b", "comparison"),
        ("a < b != c", "a < b == c", "comparison"),
        ("a and b", "a or b", "and/or"),
        ("a or (b)", "a and (b)", "and/or"),
        ("x = not a", "x = a", "not dropped"),
        ("x = not(a)", "x = (a)", "not dropped"),
        ("x = True", "x = False", "true/false"),
        ("x = 7", "x = 8", "integer"),
        ("x = 'ä', 'b'", "x = 'ä', 'XXbXX'", "string"),
        ("x = b'b'", "x = b'XXbXX'", "string"),
        ("a + b", "a - b", "plus/minus"),
        ("x -= a", "x += a", "plus/minus"),
        ("f(a)", "pass", "statement dropped"),
        ("a.b = c", "pass", "statement dropped"),
        ("def f(): return a, b", "def f(): return None", "return None"),
        ("def f(a=True): f()", "def f(a=False): f()", "default argument"),
        ("def f(*, a='b'): f()", "def f(*, a='XXbXX'): f()", "default argument"),
        ("while a: break", "while a: continue", "break/continue"),
        ("if a: b", "if True: b", "condition forced"),
        ("x = b if a else c", "x = b if False else c", "condition forced"),
        ("x = [a for a in b if c]", "x = [a for a in b if False]", "condition forced"),
    ],
)
def test_an_operator_makes_its_fault(before, after, operator):
    source = f"# first\n{before}\n".encode()

    faulty_sources = [edit.apply_to(source).decode() for edit in possible_edits(source) if edit.operator == operator]

    assert f"# first\n{after}\n" in faulty_sources


@pytest.mark.parametrize(
    "text",
    [
        '"""Only a docstring."""\n',
        "from __future__ import annotations\nimport a.b\n",
        "__all__ = ['a']\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "x: Literal['a'] | None\n",
        "Kind = Literal['a', 'b']\n",
        "x = f'{1 + 2} b'\n",
        "def f(a: 'A', *b: 'B') -> 'C':\n    '''Docstring.'''\n",
        "x = cast('A', y)\n",
        "x, y = z\n",
        "class A(Protocol):\n    def f(self):\n        ...\n",
    ],
)
def test_code_without_behaviour_gets_no_fault(text):
    assert [] == possible_edits(text.encode())


@pytest.mark.parametrize("name", ["workspace/process.py", "workspace/tree.py", "render/console.py"])
def test_every_fault_changes_one_line_and_is_found_again(name):
    source = (SOURCE / name).read_bytes()
    valid = [edit for edit in possible_edits(source)[::12] if compiles_differently(source, edit)]
    assert len(valid) > 10

    for edit in valid:
        changed = edit.apply_to(source)
        pairs = zip(source.splitlines(), changed.splitlines(), strict=True)
        assert [edit.line] == [number for number, (old, new) in enumerate(pairs, 1) if old != new]
        assert find_edit(fault_of_edit(name, source, edit), source) == edit


@pytest.mark.parametrize(
    ("replacement", "expected"), [(b"1 2", False), (b"x", False), (b"(x)", False), (b"y", True), (b"\0", False)]
)
def test_a_fault_is_another_program(replacement, expected):
    edit = SourceEdit("any", 1, 4, 5, replacement, NodeContext(1, True))

    assert compiles_differently(b"y = x\n", edit) == expected


@given(st.lists(st.sampled_from(["x = 1", "    y = 2", "if a:", "# note", ""]), max_size=8))
def test_a_fault_is_found_again_below_other_lines(lines):
    fault = fault_of_edit("a.py", b"def f():\n    return 1\n", possible_edits(b"def f():\n    return 1\n")[0])
    moved = "".join(f"# {line}\n" for line in lines) + "class A:\n    def f():\n        return 1\n"

    edit = find_edit(fault, moved.encode())

    assert edit is not None
    assert edit.line == len(lines) + 3
    assert fault.faulty_text in edit.apply_to(moved.encode()).decode()


@pytest.mark.parametrize("text", ["return 2", "", "x = 'return 1'"])
def test_a_fault_whose_line_has_changed_is_gone(text):
    assert find_edit(FAULT, f"def f():\n    {text or 'pass'}\n".encode()) is None
