"""Literals are traced through the source; computed values stay unknown."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.python_script import PythonLiterals


def strings(text: str) -> list[str]:
    """The strings that the argument of the last call of f may evaluate to."""
    literals = PythonLiterals.parse(text.encode())
    calls = [n for n in literals.nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "f"]
    return [value for _, value in literals.strings(calls[-1].args[0])]


@pytest.mark.parametrize("text", ["f(1)", "f(None)", "f(open('x'))", "f(a.b)", "f(x)", "x = x\nf(x)", "f(lambda: 'a')"])
def test_unknown_values(text):
    assert strings(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f('a')", ["a"]),
        ("f(['a', ('b', {'c'})])", ["a", "b", "c"]),
        ("x = ['a']\nx += ['b']\nx.append('c')\nf(x)", ["a", "b", "c"]),
        ("x: list = ['a'] if c else ['b']\nf(x)", ["a", "b"]),
        ("f(['a'] + ['b'])", ["a", "b"]),
        ("f('a%s' % v)", ["a%s"]),
        ("f(f'a=={v}')", ["a==*"]),
        ("f('a{}'.format(v))", ["a{}"]),
        ("for x in ['a', 'b']:\n  f(x)", ["a", "b"]),
        ("def g(x, *, y):\n  f([x, y])\ng('a', y='b')\nf([x, y])", ["a", "b"]),
        ("def g(*x):\n  f([*x])\ng('a')\nf([*x])", ["a"]),
        ("f(list(sorted(['a'])))", ["a"]),
        (r"f(['a\ud800', f'\udfff'])", ["a?", "?"]),
    ],
)
def test_known_values(text, expected):
    assert strings(text) == expected


@pytest.mark.parametrize(
    ("text", "position"), [("f('a')", (1, 4)), ("f(\n  rb'''a''')", (2, 8)), ("ä = f('a')", (1, 8))]
)
def test_position_is_inside_the_quotes(text, position):
    literals = PythonLiterals.parse(text.encode())
    (node,) = (node for node in literals.nodes if isinstance(node, ast.Constant))
    assert literals.position(node) == position


def test_invalid_python():
    assert PythonLiterals.parse(b"def") is None


def test_exponential_names_terminate():
    lines = ["a0 = ['x']", *(f"a{n} = a{n - 1} + a{n - 1}" for n in range(1, 60)), "f(a59)"]
    assert set(strings("\n".join(lines))) <= {"x"}


@given(st.binary(max_size=200))
def test_random_bytes_do_not_raise(data):
    literals = PythonLiterals.parse(data)
    assert literals is None or all(literals.position(n)[0] >= 1 for n in literals.nodes if isinstance(n, ast.Constant))
