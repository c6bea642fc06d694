from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.guards import evaluate, has_known_part, parse_condition, simplified


def parse_with(text: str, *, literals: bool = False, **known: bool):
    return parse_condition(text, known.get, literals=literals)


OPAQUE = [
    "USE_ROCM == 1",
    "USE_ROCM + 0",
    "1 == USE_ROCM",
    "-USE_ROCM",
    "USE_ROCM(3)",
    "USE_ROCM ? 1 : 0",
    "defined(USE_ROCM) ? 1 : 0",
    "defined(USE_ROCM) == 0",
    "!USE_ROCM == 0",
    "!defined(USE_ROCM) + 1",
    "(USE_ROCM) > 3",
    "__has_include(<hip/hip_runtime.h>)",
    "",
    "defined(USE_ROCM",
    "defined",
    "(USE_ROCM",
    "USE_ROCM)",
    "USE_ROCM &&",
    "&& USE_ROCM ||",
]


@pytest.mark.parametrize("text", OPAQUE)
def test_arithmetic_calls_and_broken_conditions_are_unknown(text):
    assert evaluate(parse_with(text, USE_ROCM=True)) is None


@pytest.mark.parametrize("text", ["0", "1", "0x10", "00", "1'000", "0ul"])
def test_literals_are_unknown_by_default(text):
    assert evaluate(parse_with(text)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", False),
        ("1", True),
        ("0x10", True),
        ("0x0", False),
        ("0L", False),
        ("10ul", True),
        ("1'000", True),
        ("!0", True),
    ],
)
def test_literals_option(text, expected):
    assert evaluate(parse_with(text, literals=True)) is expected


@pytest.mark.parametrize(("text", "expected"), [("00", False), ("010", True), ("0b1", True), ("0'0", False)])
def test_octal_and_binary_literals(text, expected):
    assert evaluate(parse_with(text, literals=True)) is expected


VALUES = (True, False, None)


def known(**values: bool | None) -> dict[str, bool]:
    return {name: arguments for name, arguments in values.items() if arguments is not None}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(VALUES, VALUES)))
def test_truth_table_of_and(a, b):
    expected = False if False in (a, b) else None if None in (a, b) else True
    assert evaluate(parse_with("A && B", **known(A=a, B=b))) is expected


@pytest.mark.parametrize(("a", "b"), list(itertools.product(VALUES, VALUES)))
def test_truth_table_of_or(a, b):
    expected = True if True in (a, b) else None if None in (a, b) else False
    assert evaluate(parse_with("A || B", **known(A=a, B=b))) is expected


@pytest.mark.parametrize("a", VALUES)
@pytest.mark.parametrize("text", ["!A", "!defined(A)", "! defined A", "!(A)", "!!!A", "!((defined( A )))"])
def test_truth_table_of_not(a, text):
    assert evaluate(parse_with(text, **known(A=a))) is (None if a is None else not a)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T || T && F", True),
        ("(T || T) && F", False),
        ("F && F || T", True),
        ("F && (F || T)", False),
        ("!T || T", True),
        ("!(T || T)", False),
        ("T && !F && T", True),
        ("((T))", True),
        ("(T && (F || (T && !F)))", True),
    ],
)
def test_and_binds_tighter_than_or_and_not_tightest(text, expected):
    assert evaluate(parse_with(text, T=True, F=False)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A || F", "A"),
        ("F || A", "A"),
        ("A && T", "A"),
        ("A && B && T", "A && B"),
        ("(A || F) && B", "A && B"),
        ("(A || B || F) && C", "(A || B) && C"),
        ("!(A || F)", "!A"),
        ("!(A && B && T)", "!(A && B)"),
        ("defined(A) || defined(F)", "defined(A)"),
        ("A > 3 || F", "A > 3"),
        ("A > 3 && B && T", "A > 3 && B"),
        ("!(A > 3) || F", "!(A > 3)"),
        ("!(A > 3 || F)", "!(A > 3)"),
        ("!(!(A > 3) || F)", "!!(A > 3)"),
    ],
)
def test_simplified_text_means_what_it_meant(text, expected):
    assert simplified(parse_with(text, T=True, F=False)) == expected


def test_has_known_part():
    assert not has_known_part(parse_with("A && !B", T=True))
    assert has_known_part(parse_with("A && !(B || T)", T=True))


def conditions() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(["A", "B", "T", "F", "(A + 1 > 1)", "B + 0 == 1"])
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            inner.map(lambda text: f"!({text})"),
            st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
            inner.map(lambda text: f"({text})"),
        ),
        max_leaves=8,
    )


LEVELS = [("||",), ("&&",), ("==",), (">",), ("+",)]  # loosest first, as in C


def evaluated(text: str, **macros: bool) -> int:
    """Reference: evaluates a condition with all macros known, by C precedence."""
    tokens = re.findall(r"\w+|&&|\|\||==|[>+!()]", text)

    def level(depth: int) -> int:
        if depth == len(LEVELS):
            return unary()
        left = level(depth + 1)
        while tokens and tokens[0] in LEVELS[depth]:
            operator, right = tokens.pop(0), level(depth + 1)
            left = {
                "||": int(bool(left or right)),
                "&&": int(bool(left and right)),
                "==": int(left == right),
                ">": int(left > right),
                "+": left + right,
            }[operator]
        return left

    def unary() -> int:
        token = tokens.pop(0)
        if token == "!":
            return int(not unary())
        if token == "(":
            inner = level(0)
            assert tokens.pop(0) == ")"
            return inner
        return int(token) if token.isdigit() else int(macros[token])

    result = level(0)
    assert not tokens
    return int(bool(result))


@given(conditions(), st.booleans(), st.booleans())
def test_value_and_simplified_agree_with_plain_evaluation(text, a, b):
    truth = evaluated(text, A=a, B=b, T=True, F=False)
    node = parse_with(text, T=True, F=False)
    decided = evaluate(node)
    if decided is None:
        assert evaluated(simplified(node), A=a, B=b, T=True, F=False) == truth
    else:
        assert decided == truth


@given(st.text(alphabet="AT!&|()?<> 01d", max_size=40))
def test_any_text_does_not_raise(text):
    assert evaluate(parse_with(text, T=True)) in (True, False, None)


def test_deeply_nested_condition_does_not_crash():
    text = "(" * 10_000 + "A" + ")" * 10_000
    assert evaluate(parse_with(text, A=True)) in (True, None)
