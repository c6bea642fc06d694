from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.python import PythonUnit, imports, string_value, unconditional_imports

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

BROKEN = {
    "empty": b"",
    "python 2": b"print 'x'\nexec 'y' in z\n",
    "unclosed": b"def f(:\n  if (",
    "odd bytes": b"\xff\xfe\x00x = \x80",
    "parentheses": b"x = " + b"(" * 10_000 + b"1" + b")" * 10_000,
    "open parentheses": b"(" * 10_000,
    "unary": b"x = " + b"not " * 10_000 + b"y",
    "if without condition": b"if :\n  x = 1 if else 2\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_broken_code_does_not_raise(data):
    unit = PythonUnit("x.py", data)
    assert unit.tree.root_node.type in ("module", "ERROR")
    assert all(unit.is_guarded(node) is False for node in unit.nodes("identifier", "integer"))


def is_target_guarded(code: str) -> bool:
    """Whether the name `target` is inside a guard."""
    unit = PythonUnit("x.py", code.encode())
    (node,) = [node for node in unit.nodes("identifier") if unit.slice(node) == "target"]
    return unit.is_guarded(node)


@pytest.mark.parametrize(
    "code",
    [
        "target\n",
        "if torch.cuda.is_available():\n    target\n",
        "if torch.version.cuda:\n    target\n",
        "torch.version.hip\ntarget\n",
        "if torch.version.hip:\n    pass\ntarget\n",
        "is_rocm = 3\nif is_rocm:\n    target\n",
        "x = a if b else target\n",
        "x = torch.version.hip if b else target\n",
        "f(torch.version.hip, target)\n",
    ],
)
def test_is_not_guarded(code):
    assert not is_target_guarded(code)


@pytest.mark.parametrize(
    "code",
    [
        "if torch.version.hip is not None:\n    target\n",
        "if torch.version.hip:\n    a\nelse:\n    target\n",
        "if a:\n    b\nelif torch.version.hip:\n    target\n",
        "if not torch.version.hip:\n    for x in y:\n        f(target)\n",
        "x = a if torch.version.hip else target\n",
        "x = target or torch.version.hip is not None\n",
        "assert target or torch.version.hip\n",
        "hip = torch.version.hip is not None\nif hip:\n    target\n",
        "hip = bool(torch.version.hip)\nx = a if hip else [target]\n",
        "if ROCM_HOME:\n    target\n",
        "if IS_HIP_EXTENSION:\n    target\n",
    ],
)
def test_is_guarded(code):
    assert is_target_guarded(code)


def test_the_portable_example_is_guarded():
    unit = PythonUnit("setup.py", (EXAMPLES / "already-portable/setup.py").read_bytes())
    flags = [node for node in unit.nodes("string") if string_value(unit, node) == "--use_fast_math"]
    gates = [
        n for n in unit.nodes("identifier") if unit.slice(n) == "CUDA_HOME" and unit.text.position(n.start_byte)[0] > 3
    ]
    assert len(flags) == 1
    assert len(gates) == 1
    assert all(unit.is_guarded(node) for node in [*flags, *gates])


@pytest.mark.parametrize(
    ("code", "expected"),
    [("'a'", "a"), ('"""a\nb"""', "a\nb"), ("''", ""), ("f'a{b}'", None), ("f'a'", "a"), ("b'a'", "a"), ("r'a'", "a")],
)
def test_string_value(code, expected):
    unit = PythonUnit("x.py", code.encode())
    assert [string_value(unit, node) for node in unit.nodes("string")] == [expected]


def test_identifier_is_not_a_string():
    unit = PythonUnit("x.py", b"a")
    assert [string_value(unit, node) for node in unit.nodes("identifier")] == [None]


def test_builds_extensions():
    assert PythonUnit("x.py", b"from torch.utils import cpp_extension\n").builds_extensions
    assert not PythonUnit("x.py", b"import torch\n").builds_extensions


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import a.b as c, d\n", {"a", "d"}),
        ("from a.b import c\n", {"a"}),
        ("try: import a\nexcept: import b; import c\n", {"a", "b", "c"}),
        ("import a, \\\n    b\nfrom \\\n  d import (e,\n f)\n", {"a", "b", "d"}),
        ("if x:\n\tfrom a import *\n", {"a"}),
        ("x = 1\n", set()),
        ("# from a to b\nimportant = 1\n", set()),
    ],
)
def test_imported_names_without_parse(code, expected):
    unit = PythonUnit("x.py", code.encode())

    assert {result.module.split(".")[0] for result in imports(unit)} == expected
    assert {name.encode() for name in expected} <= unit.imported_names


@given(
    st.lists(
        st.sampled_from(
            [
                "import ",
                "from ",
                "a",
                "b.c",
                ", ",
                " as ",
                "\n",
                "; ",
                "\\\n",
                "(",
                ")",
                "#",
                "*",
                ".",
                " ",
                "'",
                "if x: ",
            ]
        ),
        max_size=25,
    )
)
def test_imported_names_include_all_parsed_imports(parts):
    unit = PythonUnit("x.py", "".join(parts).encode())

    assert {result.module.split(".")[0].encode() for result in imports(unit)} - {b""} <= unit.imported_names


KNOWN = frozenset({b"a", b"b"})


@pytest.mark.parametrize(
    "code",
    [
        "import a\n",
        "try:\n    import a\nexcept ImportError:\n    a = None\n",
        "def f():\n    import a\n    return '''\nx = 1\n'''\n",
        "from a import (\nb,\nc)\n",
        "x = = 1\nimport a\nx = 1\n",
    ],
)
def test_file_that_cannot_be_truncated(code):
    unit = PythonUnit("x.py", code.encode())

    assert unit.truncated_after_imports(KNOWN) is unit


def test_parsed_file_is_not_truncated():
    unit = PythonUnit("x.py", b"import a\nx = 1\n")
    assert unit.tree.root_node.type == "module"

    assert unit.truncated_after_imports(KNOWN) is unit


@pytest.mark.parametrize(
    ("code", "head"),
    [
        ("import a\nx = 1\nimport c\n", "import a\n"),
        ("import c\nimport b\n\n\n@d\nclass C: ...\n", "import c\nimport b\n\n\n"),
        ("try:\n    import a\nexcept: a = 1\nfinally: x\ny = 1\n", "try:\n    import a\nexcept: a = 1\nfinally: x\n"),
        ("def f():\n    from b import c\n\ndef g(): ...\n", "def f():\n    from b import c\n\n"),
    ],
)
def test_file_is_truncated_before_next_statement(code, head):
    assert PythonUnit("x.py", code.encode()).truncated_after_imports(KNOWN).data == head.encode()


@given(
    st.lists(
        st.sampled_from(
            [
                "import a\n", "import c, b\n", "from a.d import e\n", "try:\n", "except E:\n", "else:\n", "if x:\n",
                "def f():\n", "class C:\n", "    import a\n", "    from b import c\n", "    x = 1\n", "x = '''\n",
                "'''\n", "y = (\n", ")\n", "# import a\n", "@d\n", "\n",
            ]
        ),
        max_size=20,
    )
)  # fmt: skip
def test_truncation_retains_imports(parts):
    code = "".join(parts).encode()
    full = PythonUnit("x.py", code)
    if full.tree.root_node.has_error:
        return

    def known(unit: PythonUnit) -> list[tuple[str, int]]:
        result = ((entry.name, entry.node.start_byte) for entry in unconditional_imports(unit))
        return [item for item in result if item[0].split(".")[0].encode() in KNOWN]

    assert known(PythonUnit("x.py", code).truncated_after_imports(KNOWN)) == known(full)
