"""Predicates and parameters of queries. The tests of the rules cover the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_matches import detectors_with_context

from rocm3d.model.errors import UserError
from rocm3d.model.rule import RuleMatcher
from rocm3d.syntax.python import PythonUnit

CALL = "(call function: (_) @f) @match"
STRING = "(string) @s @match"


@pytest.fixture
def search(known):
    """Matches of a query over a Python file, with the terms a, b and torch.cuda."""

    def run(query: str, text: str, path: str = "a.py", **parameters):
        matcher = RuleMatcher(kind="python_syntax", parameters={"query": query, "contains": [""], **parameters})
        terms = {"a": "why a", "b": "why b", "torch.cuda": "why torch", "3.7": "a version"}
        rule = known.codes["PY205"].model_copy(update={"matcher": matcher, "terms": terms})
        packages = {"gsplat": known.packages["gsplat"].model_copy(update={"imports": ("gsplat",)})}
        ((detector, context),) = detectors_with_context(rule, replace(known, packages=packages))
        unit = PythonUnit(path, text.encode())
        return list(detector.find(unit, context)) if detector.can_match(unit, context) else []

    return run


@pytest.fixture
def columns(search):
    def run(query: str, text: str, path: str = "a.py", **parameters):
        return [match.column for match in search(query, text, path, **parameters)]

    return run


def test_unknown_predicate_is_refused(search):
    with pytest.raises(UserError, match=r"rule fp8_dtype: unknown predicate #no-such\?"):
        search(f'({CALL} (#no-such? @f "x"))', "f()\n")


@pytest.mark.parametrize(
    ("predicate", "text", "expected"),
    [
        ("(#term? @f)", "a(); x.a(); c()\n", [1]),
        (r'(#term? @f "(\\w+)$")', "a(); x.a(); c()\n", [1, 6]),
        (r'(#term? @f "(?:x|(b))$")', "x(); b()\n", [6]),
        ("(#term-prefix? @f)", "a(); ab.c(); c()\n", [1, 6]),
        ("(#imported-term-prefix? @f)", "import torch as t; t.cuda.x(); t.x()\n", [20]),
        (r'(#imported-term? @f "^torch\\.(\\w+)$")', "from torch import a as q; q()\n", [27]),
        ('(#item? @match "2")', "f(1, g(), h(), k=l())\n", [6, 18]),
        ('(#item? @match "1")', "f(k=l(),  # c\n  m())\n", [1, 3]),
        ('(#child-of? @match "list")', "[f(), g(h())]\n", [2, 7]),
        ('(#statement? @match "^x")', "x = f()\ny = g()\n", [5]),
        ('(#file-has? "g")', "f()\ng()\n", [1, 1]),
        ('(#not-file-has? "g")', "f()\ng()\n", []),
        ('(#path? "^a")', "f()\n", [1]),
        ('(#path? "^b")', "f()\n", []),
        ("(#not-missing? @g)", "f()\n", None),
        ('(#match? @g "x")', "f()\n", []),
        ('(#not-match? @g "x")', "f()\n", [1]),
        ("(#truth-value? @match)", "if a(): b()\n", [4]),
        ("(#truth-value? @match)", "x = (a()) and not b() or bool(c())\n", [6, 19, 26, 31]),
        ("(#truth-value? @match)", "x = a() if b() else c()\n", [12]),
        ("(#truth-value? @match)", "assert a(), b()\n", [8]),
        ("(#truth-value? @match)", "while a(): f(b())\n", [7]),
    ],
)
def test_predicates(columns, predicate, text, expected):
    query = f"({CALL} {predicate})"
    if expected is None:
        with pytest.raises(UserError):
            columns(query, text)
    else:
        assert columns(query, text) == expected


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ('((list) @known.l) ((string) @match (#within? @match "l"))', "['a', f('b')]; 'c'\n", [2, 9]),
        ('((list) @known.l) ((call) @match (#contains? @match "l"))', "f([]); g(h([])); k()\n", [1, 8, 10]),
        ('((list) @known.l) ((list) @match (#contains? @match "l"))', "[[], []]\n", [1, 2, 6]),
        ('((list) @known.l) ((list) @match (#collected? @match "l"))', "[[]]\n", [1, 2]),
        (
            '((assignment left: (_) @known.n)) ((call function: (_) @f) @match (#known? @f "n"))',
            "f = 1; f(); g()\n",
            [8],
        ),
        ('((call) @match (#known? "n")) ((assignment left: (_) @known.n))', "f = 1; f()\n", []),
        ('((call) @known.n @match (#not-known? "n"))', "f(); g()\n", [1, 6]),
    ],
)
def test_collected_nodes(columns, query, text, expected):
    assert columns(query, text) == expected


def test_many_collected_nodes_are_fast(columns):
    query = '((string) @known.s) ((string) @match (#within? @match "s") (#contains? @match "s") (#known? @match "s"))'

    assert len(columns(query, "x = [" + "'a', " * 20_000 + "]\n", once="line")) == 1


def test_term_is_collected_too(search):
    query = """((assignment left: (_) @known.n right: (_) @v) (#term? @v "(b)"))
    ((call function: (_) @f) @match @known.c (#known? @f "n"))
    ((call) @match (#collected? @match "c") (#set! text "{why}!"))"""
    (match,) = search(query, "f = x(b)\nf()\n")

    assert (match.facts["term"], match.facts["why"]) == ("b", "why b")


def test_set_contains_facts(search):
    query = '((keyword_argument name: (_) @n value: (_) @v) @match (#set! text "{n}={v}, {other}"))'
    (match,) = search(query, "f(x='y')\n")

    assert match.facts["text"] == "x=y, {other}"


@pytest.mark.parametrize(
    ("predicate", "text", "expected"),
    [
        ("(#imports-term? @match)", "import torch.cuda.x\nfrom torch import cuda\nimport torch\n", [1, 2]),
        ("(#unconditional? @match)", "import x\nif y:\n    import z\n", [1]),
    ],
)
def test_imports(search, predicate, text, expected):
    query = f"([(import_statement) (import_from_statement)] @match {predicate})"

    assert [match.line for match in search(query, text)] == expected


def test_full_name_in_the_message_only_after_a_comparison_of_it(search):
    text = "import torch as t\nt.cuda()\n"
    (by_import,) = search(f"({CALL} (#imported-term? @f))", text)
    (by_prefix,) = search(f"({CALL} (#imported-term-prefix? @f))", text)

    assert (by_import.facts["f"], by_prefix.facts["f"]) == ("torch.cuda", "t.cuda")


@pytest.mark.parametrize(("text", "expected"), [("'>=3.7'", True), ("'>3.7'", False), ("''", False), ("'x'", False)])
def test_admits_version(columns, text, expected):
    assert bool(columns(f"({STRING} (#admits-version? @s))", f"x = {text}\n")) is expected


def test_package_module_and_guard(columns):
    assert columns(f"({STRING} (#package-module? @s))", "x = 'gsplat', 'numpy'\n") == [5]
    text = "x = 'a' if torch.version.hip else 0; y = 'b'\n"
    assert columns(f"({STRING} (#not-guarded? @s))", text) == [42]
    assert columns(f"({STRING})", text, guarded=True) == [5, 42]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"contains": ["x"]}, [1, 6, 1]),
        ({"file_has": ["x", "[bc]"]}, [1, 6, 1]),
        ({"file_has": ["x", "y"]}, []),
        ({"file_lacks": ["x"]}, []),
        ({"file_lacks": ["y", "z"]}, [1, 6, 1]),
        ({"once": "file"}, [1]),
        ({"once": "line"}, [1, 1]),
        ({"once": "statement"}, [1, 6, 1]),
        ({"once": "term"}, [1, 6]),
        ({"once": "f"}, [1, 6]),
    ],
)
def test_parameters(columns, parameters, expected):
    assert columns(f"({CALL} (#term? @f))", "a(); b()\nb()  # x\n", **parameters) == expected


def test_once_for_each_statement(columns):
    assert columns(f"({STRING})", "x = ['a', 'b']; y = 'c'\n", once="statement") == [6, 21]


def test_file_conditions_hold_without_the_prefilter(known):
    rule = known.codes["PY403"]
    ((detector, context),) = detectors_with_context(rule, known)
    unit = PythonUnit("a.py", b"p = ['MIGraphXExecutionProvider', 'CUDAExecutionProvider']\n")

    assert list(detector.find(unit, context)) == []


def test_severity_of_a_finding_that_is_alone(search):
    assert [match.severity for match in search(CALL, "f()\n", alone="note")] == ["note"]
    assert [match.severity for match in search(CALL, "f()\ng()\n", alone="note")] == [None, None]


def test_predicates_of_alternatives(columns):
    query = '([(assignment right: (_) @v) (call arguments: (argument_list (_) @v))] @match (#eq? @v "1"))'

    assert columns(query, "x = 1; f(1); g(2)\n") == [1, 8]
