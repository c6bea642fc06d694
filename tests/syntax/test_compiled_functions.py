from __future__ import annotations

import ast

import pytest

from rocm3d.syntax.compiled_functions import (
    CompiledNames,
    changed_functions,
    compiled_names,
    compiler_of,
    scripted_closure,
)

BEFORE = "{}\ndef f(x):\n    return 1\n"
AFTER = "{}\ndef f(x):\n    return 2\n"


def reason(decorator: str, names: CompiledNames | None = None) -> str | None:
    before, after = ast.parse(BEFORE.format(decorator)), ast.parse(AFTER.format(decorator))
    (function,) = changed_functions(before, after)
    return compiler_of(function, names or CompiledNames(), "a.py")


@pytest.mark.parametrize("decorator", ["@torch.jit.script", "@njit(x=1)", "@partial(jit.script, x)", "@a.func"])
def test_compiled_by_a_decorator(decorator):
    assert "compiled from its source" in (reason(decorator) or "")


@pytest.mark.parametrize("decorator", ["", "@torch.compile", "@property", "@torch.jit.ignore", "@torch.no_grad()"])
def test_run_by_python(decorator):
    assert reason(decorator) is None


def test_an_unchanged_function_and_a_changed_decorator_are_no_change():
    assert not list(changed_functions(ast.parse("@a\ndef f(): pass\n"), ast.parse("@b(1)\ndef f(): pass\nx = 1\n")))


@pytest.mark.parametrize(
    ("text", "scripted"),
    [
        ("def f(): pass\ntorch.jit.script(f)\n", {"f"}),
        ("from m import f as g\ntorch.jit.script(g)\n", {"f"}),
        ("class N: pass\nn = N().cuda()\ntorch.jit.script(n)\n", {"N"}),
        ("torch.jit.script(build())\n", {"forward"}),
        ("@torch.jit.script\ndef f(): pass\n", {"f"}),
        ("class N(jit.ScriptModule): pass\n", {"N"}),
        ("def f(g):\n    return g\ntorch.jit.trace(f, 1)\n", set()),
    ],
)
def test_scripted_names(text, scripted):
    assert set(compiled_names("a.py", ast.parse(text)).scripted) == scripted


def test_a_function_that_scripts_its_argument():
    names = compiled_names("a.py", ast.parse("def fast(f):\n    return torch.jit.script(f)\n"))
    assert set(names.wrappers) == {"fast"}
    assert "compiled" in (reason("@fast", names) or "")


def test_callees_are_scripted():
    tree = ast.parse("def a(x):\n    return b(x) + m.c(x)\ndef b(x): pass\ndef c(x): pass\ndef d(x): pass\n")
    files = dict.fromkeys("abcd", ("a.py",))
    assert set(scripted_closure({"a": "x:1"}, files, lambda _: tree)) == {"a", "b", "c"}
