from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.isolation import prove_isolation


def python(before: str, after: str) -> bool:
    return prove_isolation("setup.py", before.encode(), after.encode()).holds


def cpp(before: str, after: str) -> bool:
    return prove_isolation("x.cu", before.encode(), after.encode()).holds


# Rejected edits.


@pytest.mark.parametrize("path", ["Makefile", "x.toml", "README.md"])
def test_other_files_have_no_proof(path):
    proof = prove_isolation(path, b"a\n", b"a\n")
    assert not proof.holds
    assert "no proof" in proof.detail


FLAG = "is_rocm = torch.version.hip is not None\n"
FORBIDDEN = {
    "changed CUDA branch": ("import torch\nx = 1\n", f"import torch\n{FLAG}x = 2 if is_rocm else 3\n"),
    "guard inverted": ("import torch\nx = 1\n", f"import torch\n{FLAG}x = 1 if is_rocm else 2\n"),
    "guard negated": ("import torch\nx = 1\n", f"import torch\n{FLAG}x = 2 if not is_rocm else 1\n"),
    "hasattr": ("import torch\nx = 1\n", "import torch\nx = 2 if hasattr(torch.version, 'hip') else 1\n"),
    "getattr": ("import torch\nx = 1\n", "import torch\nx = 2 if getattr(torch.version, 'hip', None) else 1\n"),
    "truth of hip": ("import torch\nx = 1\n", "import torch\nx = 2 if torch.version.hip else 1\n"),
    "hip is None": ("import torch\nx = 1\n", "import torch\nx = 2 if torch.version.hip is None else 1\n"),
    "hip != None": ("import torch\nx = 1\n", "import torch\nx = 2 if torch.version.hip != None else 1\n"),
    "other module's version": ("import torch\nx = 1\n", "import torch\nx = 2 if th.version.hip is not None else 1\n"),
    "unguarded insertion": ("import torch\nx = 1\n", "import torch\nx = 1\ny = 2\n"),
    "unguarded removal": ("import torch\nx = 1\ny = 2\n", "import torch\nx = 1\n"),
    "reordered": ("import torch\nx = 1\ny = 2\n", "import torch\ny = 2\nx = 1\n"),
    "other import added": ("import torch\nx = 1\n", "import torch\nimport os\nx = 1\n"),
    "import torch where there is none": ("x = 1\n", "import torch\nx = 1\n"),
    "import torch where a function imports it": (
        "def f():\n    import torch\n",
        "import torch\ndef f():\n    import torch\n",
    ),
    "import torch where a try imports it": (
        "try:\n    import torch\nexcept ImportError:\n    pass\n",
        "import torch\ntry:\n    import torch\nexcept ImportError:\n    pass\n",
    ),
    "import torch where an if imports it": ("if x:\n    import torch\n", "import torch\nif x:\n    import torch\n"),
    "import torch twice": ("import torch\nx = 1\n", "import torch\nimport torch\nx = 1\n"),
    "import torch as something": ("from torch import nn\n", "from torch import nn\nimport torch as th\n"),
    "relative torch": ("from .torch import nn\n", "from .torch import nn\nimport torch\n"),
    "import torch before the environment is set": (
        "import os\nos.environ['A'] = '1'\nfrom torch import nn\n",
        "import torch\nimport os\nos.environ['A'] = '1'\nfrom torch import nn\n",
    ),
    "flag where torch is not imported": ("x = 1\n", f"{FLAG}x = 1\n"),
    "flag before torch is imported": ("import torch\nx = 1\n", f"{FLAG}import torch\nx = 1\n"),
    "flag where torch is not bound": ("from torch import nn\nx = 1\n", f"from torch import nn\n{FLAG}x = 1\n"),
    "inline guard where torch is not imported": ("x = 1\n", "x = 2 if torch.version.hip is not None else 1\n"),
    "inline guard before torch is imported": (
        "x = 1\nimport torch\n",
        "x = 2 if torch.version.hip is not None else 1\nimport torch\n",
    ),
    "flag used before it is set": ("import torch\nx = 1\n", f"import torch\nx = 2 if is_rocm else 1\n{FLAG}"),
    "flag never set": ("import torch\nx = 1\n", "import torch\nx = 2 if is_rocm else 1\n"),
    "flag set only in a function": (
        "import torch\nx = 1\n",
        f"import torch\ndef f():\n    {FLAG}x = 2 if is_rocm else 1\n",
    ),
    "flag reassigned": ("import torch\nx = 1\n", f"import torch\n{FLAG}is_rocm = True\nx = 2 if is_rocm else 1\n"),
    "flag set twice": ("import torch\nx = 1\n", f"import torch\n{FLAG}{FLAG}x = 2 if is_rocm else 1\n"),
    "flag augmented": ("import torch\nx = 1\n", f"import torch\n{FLAG}is_rocm |= True\nx = 2 if is_rocm else 1\n"),
    "flag with a second target": (
        "import torch\nx = 1\n",
        "import torch\nis_rocm = y = torch.version.hip is not None\nx = 1\n",
    ),
    "flag annotated": ("import torch\nx = 1\n", "import torch\nis_rocm: bool = torch.version.hip is not None\nx = 1\n"),
    "flag is something else": ("import torch\nx = 1\n", "import torch\nis_rocm = True\nx = 2 if is_rocm else 1\n"),
    "flag before the docstring": ('"""Doc."""\nimport torch\n', f'{FLAG}"""Doc."""\nimport torch\n'),
    "flag before __future__": (
        "from __future__ import annotations\nimport torch\n",
        f"{FLAG}from __future__ import annotations\nimport torch\n",
    ),
    "guard before a docstring": (
        'import torch\ndef f():\n    """Doc."""\n',
        'import torch\ndef f():\n    if torch.version.hip is not None:\n        g()\n    """Doc."""\n',
    ),
    "guarded assignment that makes a global local": (
        "import torch\nx = 1\ndef f():\n    return x\n",
        f"import torch\n{FLAG}x = 1\ndef f():\n    if is_rocm:\n        x = 2\n    return x\n",
    ),
    "guarded import that makes a global local": (
        "import torch\nimport os\ndef f():\n    return os\n",
        f"import torch\n{FLAG}import os\ndef f():\n    if is_rocm:\n        import os\n    return os\n",
    ),
    "guarded yield that makes a generator": (
        "import torch\ndef f():\n    return 1\n",
        f"import torch\n{FLAG}def f():\n    if is_rocm:\n        yield 2\n    return 1\n",
    ),
    "guard in a lambda with torch as a parameter": (
        "import torch\nf = lambda torch: 1\n",
        "import torch\nf = lambda torch: 2 if torch.version.hip is not None else 1\n",
    ),
    "or in value position": ("import torch\nx = a\n", f"import torch\n{FLAG}x = a or is_rocm\n"),
    "or behind a call in value position": ("import torch\nf(g())\n", f"import torch\n{FLAG}f(g() or is_rocm)\n"),
    "or behind == in value position": ("import torch\nx = a == b\n", f"import torch\n{FLAG}x = a == b or is_rocm\n"),
    "and not in value position": ("import torch\nx = a\n", f"import torch\n{FLAG}x = a and not is_rocm\n"),
    "or in front evaluates to the flag": ("import torch\nx = a\n", f"import torch\n{FLAG}x = is_rocm and a\n"),
    "while": ("import torch\nwhile a:\n    b\n", f"import torch\n{FLAG}while a and is_rocm:\n    b\n"),
    "guarded loop is not removed": ("import torch\n", f"import torch\n{FLAG}while is_rocm:\n    b\n"),
    "assert": ("import torch\nassert a\n", f"import torch\n{FLAG}assert is_rocm\n"),
    "call of the flag": ("import torch\n", f"import torch\n{FLAG}f(is_rocm)\n"),
    "elif that hides the next": (
        "import torch\nif a:\n    b\nelif c:\n    d\n",
        f"import torch\n{FLAG}if a:\n    b\nelif not is_rocm:\n    e\nelif c:\n    d\n",
    ),
    "does not parse before": ("import torch\nprint 'x'\n", "import torch\nprint 'x'\n"),
    "does not parse after": ("import torch\n", "import torch\nif:\n"),
    "null byte": ("import torch\n", "import torch\n\0"),
    "too deep": ("import torch\n", "import torch\nx = " + "(" * 10_000 + "1" + ")" * 10_000 + "\n"),
}
for how, code in {
    "a parameter": "def f(torch):\n    {}return 1\n",
    "a parameter around": "def f(*, torch=1):\n  def h():\n    {}return 1\n",
    "imported later": "def f():\n    {}import torch\n",
    "imported under a condition": "def f():\n    if a:\n        import torch\n    {}return 1\n",
    "set later": "def f():\n    {}torch = 1\n",
    "set before": "def f():\n    torch = 1\n    {}return torch\n",
    "global": "def f():\n    global torch\n    {}return 1\n",
    "imported and set": "def f():\n    import torch\n    torch = 1\n    {}return 1\n",
}.items():
    FORBIDDEN[f"guard in a function where torch is {how}"] = (
        "import torch\n" + code.format(""),
        "import torch\n" + code.format("if torch.version.hip is not None:\n        g()\n    "),
    )
for how, code in {
    "parameter": "def f(is_rocm):\n    return 1\n",
    "keyword parameter": "def f(*, is_rocm=1):\n    return 1\n",
    "lambda parameter": "f = lambda is_rocm: 1\n",
    "global": "def f():\n    global is_rocm\n    is_rocm = 1\n",
    "local": "def f():\n    is_rocm = 1\n",
    "class attribute": "class A:\n    is_rocm = 1\n",
    "function": "def is_rocm():\n    return 1\n",
    "class": "class is_rocm:\n    pass\n",
    "import": "import is_rocm\n",
    "import as": "from a import b as is_rocm\n",
    "loop": "for is_rocm in a:\n    pass\n",
    "comprehension": "x = [is_rocm for is_rocm in a]\n",
    "with": "with a as is_rocm:\n    pass\n",
    "walrus": "f(is_rocm := 1)\n",
    "except": "try:\n    a\nexcept E as is_rocm:\n    b\n",
    "match": "match a:\n    case is_rocm:\n        b\n",
    "match star": "match a:\n    case [1, *is_rocm]:\n        b\n",
    "match rest": "match a:\n    case {'k': 1, **is_rocm}:\n        b\n",
    "del": "del is_rocm\n",
    "star import behind it": "from a import *\n",
}.items():
    FORBIDDEN[f"flag shadowed: {how}"] = (
        f"import torch\n{code}y = 1\n",
        f"import torch\n{FLAG}{code}y = 2 if is_rocm else 1\n",
    )


@pytest.mark.parametrize(("before", "after"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_python_does_not_hold(before, after):
    assert not python(before, after)


CPP_FORBIDDEN = {
    "changed code": ("a\n", "b\n"),
    "added line": ("a\n", "a\nb\n"),
    "whitespace": ("a\n", "a \n"),
    "newline style": ("a\n", "a\r\n"),
    "guard inverted": ("a\n", "a\n#ifndef USE_ROCM\nb\n#endif\n"),
    "wrong branch": ("a\n", "#ifdef USE_ROCM\na\n#else\nb\n#endif\n"),
    "unknown macro": ("a\n", "a\n#ifdef HIP\nb\n#endif\n"),
    "arithmetic": ("a\n", "a\n#if USE_ROCM == 1\nb\n#endif\n"),
    "directive in a comment": ("a\n", "a\n/*\n#ifdef USE_ROCM\n*/b\n/*\n#endif\n*/\n"),
    "directive in a macro": ("#define A \\\n b\n", "#define A \\\n#ifdef USE_ROCM\\\n c\\\n#endif\\\n b\n"),
    "directive in a raw string": ('R"(\n)"\n', 'R"(\n#ifdef USE_ROCM\nb\n#endif\n)"\n'),
    "file defines the guard": ("#define USE_ROCM\na\n", "#define USE_ROCM\na\n#ifdef USE_ROCM\nb\n#endif\n"),
    "file undefines the guard": ("#undef USE_ROCM\na\n", "#undef USE_ROCM\na\n"),
    "edit defines the guard": ("a\n", "a\n#ifdef FOO\n#define USE_ROCM 1\n#endif\n"),
    "edit defines a HIP macro": ("a\n", "#ifdef USE_ROCM\n# define __HIP_X(y) y\n#endif\na\n"),
    "header of a condition changed": (
        '#if defined(USE_ROCM) || __has_include("a.h")\na\n#endif\n',
        '#if defined(USE_ROCM) || __has_include("b.h")\na\n#endif\n',
    ),
    "negation of another text": ("#if !X > 3\na\n#endif\n", "#if !(X > 3 || defined(USE_ROCM))\na\n#endif\n"),
    "negated group in an elif": (
        "#if !X > 3\na\n#endif\n",
        "#if defined(USE_ROCM)\nb\n#elif !(X > 3)\na\n#endif\n",
    ),
    "keyword cut by a splice": ("a\n", "#ifdef USE_ROCM\n#e\\\nlse\nb\n#endif\na\n"),
    "comment by splices": ("/\\\n*\n*/ a\n", "/\\\n*\n#ifdef USE_ROCM\n*/ b\n/\\\n*\n#endif\n*/ a\n"),
}


@pytest.mark.parametrize(("before", "after"), CPP_FORBIDDEN.values(), ids=CPP_FORBIDDEN)
def test_cpp_does_not_hold(before, after):
    assert not cpp(before, after)


# Edits whose proof holds.

ALLOWED = {
    "nothing": ("x = 1\n", "x = 1\n"),
    "spelling and comments": ("x = 'a'\n", 'x = "a"  # why\n'),
    "flag": ("import torch\nx = 1\n", f"import torch\n{FLAG}x = 1\n"),
    "inline": ("import torch\nx = 1\n", "import torch\nx = 2 if torch.version.hip is not None else 1\n"),
    "import added": ("from torch import nn\nx = 1\n", f"from torch import nn\nimport torch\n{FLAG}x = 1\n"),
    "import added beside an alias": (
        "import torch.nn as nn\nx = 1\n",
        f"import torch.nn as nn\nimport torch\n{FLAG}x = 2 if is_rocm else 1\n",
    ),
    "torch bound by a submodule": ("import torch.nn\nx = 1\n", f"import torch.nn\n{FLAG}x = 2 if is_rocm else 1\n"),
    "statement without else": ("import torch\nx = 1\n", f"import torch\n{FLAG}if is_rocm:\n    y = 2\nx = 1\n"),
    "statement with else": ("import torch\nx = 1\n", f"import torch\n{FLAG}if is_rocm:\n    x = 2\nelse:\n    x = 1\n"),
    "negated statement": ("import torch\nx = 1\n", f"import torch\n{FLAG}if not is_rocm:\n    x = 1\n"),
    "twice negated": ("import torch\nx = 1\n", f"import torch\n{FLAG}x = 2 if not (not is_rocm) else 1\n"),
    "elif": (
        "import torch\nif a:\n    b\nelse:\n    c\n",
        f"import torch\n{FLAG}if a:\n    b\nelif is_rocm:\n    d\nelse:\n    c\n",
    ),
    "front of a chain": (
        "import torch\nif a:\n    b\nelse:\n    c\n",
        f"import torch\n{FLAG}if is_rocm:\n    d\nelif a:\n    b\nelse:\n    c\n",
    ),
    "else with only a guard": (
        "import torch\nif a:\n    b\n",
        f"import torch\n{FLAG}if a:\n    b\nelse:\n    if is_rocm:\n        c\n",
    ),
    "or in test position": ("import torch\nif a:\n    b\n", f"import torch\n{FLAG}if a or is_rocm:\n    b\n"),
    "and not in test position": ("import torch\nif a:\n    b\n", f"import torch\n{FLAG}if a and not is_rocm:\n    b\n"),
    "nested test": (
        "import torch\nif a and b:\n    c\n",
        f"import torch\n{FLAG}if a and (b or is_rocm):\n    c\n",
    ),
    "or in a negated test": (
        "import torch\nif not a:\n    b\n",
        f"import torch\n{FLAG}if not (a or is_rocm):\n    b\n",
    ),
    "or in a conditional": ("import torch\nx = 1 if a else 2\n", f"import torch\n{FLAG}x = 1 if a or is_rocm else 2\n"),
    "or in front of a value": ("import torch\nx = a\n", f"import torch\n{FLAG}x = is_rocm or a\n"),
    "and in front of a value": ("import torch\nx = a\n", f"import torch\n{FLAG}x = not is_rocm and a\n"),
    "or behind a bool": ("import torch\nx = a is None\n", f"import torch\n{FLAG}x = a is None or is_rocm\n"),
    "and behind a bool": ("import torch\nx = not a\n", f"import torch\n{FLAG}x = not a and not is_rocm\n"),
    "while": ("import torch\nwhile a:\n    b\n", f"import torch\n{FLAG}while a or is_rocm:\n    b\n"),
    "assert": ("import torch\nassert a, b\n", f"import torch\n{FLAG}assert a or is_rocm, b\n"),
    "nested function": (
        "import torch\ndef f():\n    def g():\n        return 1\n    return g\n",
        f"import torch\n{FLAG}def f():\n    def g():\n        return 2 if is_rocm else 1\n    return g\n",
    ),
    "rocm branch of an earlier port": (
        f"import torch\n{FLAG}x = 2 if is_rocm else 1\n",
        f"import torch\n{FLAG}x = 3 if is_rocm else 1\n",
    ),
    "guard behind an import in the function": (
        "import torch\ndef f():\n    import torch\n    return 1\n",
        "import torch\ndef f():\n    import torch\n    if torch.version.hip is not None:\n        g()\n    return 1\n",
    ),
    "guard beside one of the original that is in doubt": (
        "import torch\ndef f(torch):\n    return torch.version.hip is not None\nx = 1\n",
        f"import torch\n{FLAG}def f(torch):\n    return torch.version.hip is not None\nx = 2 if is_rocm else 1\n",
    ),
    "guarded local that was local": (
        "import torch\ndef f():\n    x = 1\n    return x\n",
        f"import torch\n{FLAG}def f():\n    x = 1\n    if is_rocm:\n        x = 2\n    return x\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), ALLOWED.values(), ids=ALLOWED)
def test_python_holds(before, after):
    assert python(before, after)


def test_syntax_warnings_are_suppressed():
    """`"\\d"` makes the parser warn; the warning must not be shown and must not affect the proof."""
    before = 'import torch\nx = "\\d"\n'
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert python(before, f"import torch\n{FLAG}x = 2 if is_rocm else '\\\\d'\n")


CPP_ALLOWED = {
    "nothing": ("a\n", "a\n"),
    "added": ("a\n", "a\n#if defined(USE_ROCM)\nb\n#endif\n"),
    "replaced": ("a\n", "#if defined(USE_ROCM) || defined(__HIP_PLATFORM_AMD__)\nb\n#else\na\n#endif\n"),
    "left out": ("a\n", "#if !defined(USE_ROCM)\na\n#endif\n"),
    "condition widened": ("#if FOO\na\n#endif\n", "#if FOO && !defined(USE_ROCM)\na\n#endif\n"),
    "condition with arithmetic": (
        "#if CUDA_VERSION >= 11000\na\n#endif\n",
        "#if CUDA_VERSION >= 11000 || defined(USE_ROCM)\na\n#endif\n",
    ),
    "elif added in front": ("#if FOO\na\n#endif\n", "#if defined(USE_ROCM)\nb\n#elif FOO\na\n#endif\n"),
    "negated arithmetic": ("#if !(X > 3)\na\n#endif\n", "#if !(X > 3) && !defined(USE_ROCM)\na\n#endif\n"),
    "rocm branch changed": ("#ifdef USE_ROCM\na\n#endif\n", "#ifdef USE_ROCM\nb\n#endif\n"),
}


@pytest.mark.parametrize(("before", "after"), CPP_ALLOWED.values(), ids=CPP_ALLOWED)
def test_cpp_holds(before, after):
    assert cpp(before, after)


def test_invalid_utf8_is_compared_bytewise():
    assert prove_isolation("x.cu", b"// \xe9\n", b"// \xe9\n#ifdef USE_ROCM\n\xff\n#endif\n").holds
    assert not prove_isolation("x.cu", b"// \xe9\n", b"// \xe8\n").holds


LINES = st.lists(
    st.sampled_from(
        ["int x = 1;", "// it's", "#define A 1", "#if FOO", "#else", "#endif", "#ifdef USE_ROCM", "", "f();"]
    ),
    min_size=1,
    max_size=12,
)
ADDED = st.lists(
    st.sampled_from(["int y;", "#define B 2", "", "g();", "// don't", '"open', "#if BAR\nh();\n#endif"]), min_size=1
)


def _is_dead(lines: list[str], at: int) -> bool:
    """Whether a line inserted at this index would be in a ROCm-only branch, or the nesting is broken."""
    open_: list[bool] = []
    for line in lines[:at]:
        if line.startswith("#if"):
            open_.append("USE_ROCM" in line)
        elif line == "#else":
            if not open_:
                return True
            open_[-1] = True  # live after #else of USE_ROCM, but not after a second #else: treat it as dead
        elif line == "#endif" and open_:
            open_.pop()
    return any(open_)


@given(LINES, st.data())
def test_a_line_outside_any_guard_is_never_proven(lines, data):
    at = data.draw(st.integers(0, len(lines)))
    if _is_dead(lines, at):
        at = 0
    after = [*lines[:at], "new();", *lines[at:]]
    assert not cpp("\n".join(lines) + "\n", "\n".join(after) + "\n")


@given(LINES, ADDED, st.data())
def test_guarded_lines_are_always_proven(lines, added, data):
    at = data.draw(st.integers(0, len(lines)))
    after = [*lines[:at], "#if defined(USE_ROCM)", *added, "#endif", *lines[at:]]
    assert cpp("\n".join(lines) + "\n", "\n".join(after) + "\n")


STATEMENTS = st.lists(
    st.sampled_from(["x = 1", "f(x)", "if a:\n    b = 2", "def g():\n    return 1", "assert x"]), max_size=6
)


@given(STATEMENTS, st.sampled_from(["y = 2", "h()", "import os", "if a:\n    pass", "assert y"]), st.data())
def test_a_statement_outside_any_guard_is_never_proven(lines, new, data):
    at = data.draw(st.integers(0, len(lines)))
    after = ["import torch", *lines[:at], new, *lines[at:]]
    assert not python("\n".join(["import torch", *lines]), "\n".join(after))


@given(STATEMENTS, st.sampled_from(["y = 2", "h()", "import os", "assert y"]), st.booleans(), st.data())
def test_a_guarded_statement_is_always_proven(lines, new, inline, data):
    at = data.draw(st.integers(0, len(lines)))
    guard = "torch.version.hip is not None" if inline else "is_rocm"
    after = ["import torch", FLAG.strip(), *lines[:at], f"if {guard}:\n    {new}", *lines[at:]]
    assert python("\n".join(["import torch", *lines]), "\n".join(after))
