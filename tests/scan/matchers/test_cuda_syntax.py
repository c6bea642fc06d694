"""The query language of cuda_syntax, one small rule at a time. The rules' own tests cover the rest."""

from __future__ import annotations

import pytest
from rule_matches import rule_matches

from rocm3d.model.errors import UserError
from rocm3d.model.rule import RuleMatcher
from rocm3d.scan.detector import Clue
from rocm3d.syntax.cuda import CudaUnit


@pytest.fixture
def search(known):
    """The matches of a query with these terms and parameters."""

    def run(query: str, text: str, *, terms: dict[str, str] | None = None, **parameters):
        matcher = RuleMatcher(kind="cuda_syntax", parameters={"query": query, "contains": [""], **parameters})
        rule = known.codes["CU201"].model_copy(update={"matcher": matcher, "terms": terms or {}})
        return list(rule_matches(rule, CudaUnit("a.cu", text.encode()), known))

    return run


@pytest.fixture
def facts(search):
    def run(query: str, text: str, name: str, **parameters):
        return [match.facts[name] for match in search(query, text, **parameters)]

    return run


CALL = "(call_expression function: (_) @call {}) @match"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("(no_such_type) @match", "cuda has no node type 'no_such_type'"),
        ("(call_expression callee: (_)) @match", "cuda has no field 'callee'"),
        (CALL.format('(#sounds-like? @call "f")'), "unknown predicate #sounds-like?"),
        ("(argument_list . (_) (_)) @match", "argument_list has two children without a field"),
        ("(call_expression", "it ends too early"),
    ],
)
def test_mistakes_in_a_query_are_refused(search, query, message):
    with pytest.raises(UserError, match=message.replace("?", r"\?")):
        search(query, "void f() { g(1); }")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(argument_list . (_) @argument)", ["a"]),
        ("(argument_list (_) @argument .)", ["c"]),
        ("(argument_list (identifier) @argument)", ["a", "b", "c"]),
    ],
)
def test_dot_is_the_first_or_last_child_without_comments(facts, pattern, expected):
    query = pattern.replace("@argument", "@argument @match")

    assert facts(query, "void f() { g(/* x */ a, b, c /* y */); }", "argument") == expected


def test_group_of_alternatives_with_a_predicate(facts):
    query = '([(identifier) (type_identifier)] @name @match (#any-of? @name "a" "T"))'

    assert facts(query, "T a = b;", "name") == ["T", "a"]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ('(#eq? @call "f")', ["f"]),
        ('(#not-eq? @call "f")', ["a::g", "a::gg", "h"]),
        ('(#match? @call "^a")', ["a::g", "a::gg"]),
        ("(#term? @call)", ["a::g"]),
        ("(#not-term? @call)", ["f", "a::gg", "h"]),
        ("(#term-prefix? @call)", ["a::g", "a::gg"]),
        ('(#file-has? "h<")', ["f", "a::g", "a::gg", "h"]),
        ('(#not-file-has? "h<")', []),
        ("(#scoped? @call)", []),
        ("(#on-device? @call)", ["f"]),
        ("(#device-code? @call)", ["f", "a::g", "a::gg"]),
        ("(#defines? @call)", ["h"]),
        ("(#defines-macro? @call)", []),
        ('(#inside? @call "if_statement")', ["h"]),
        ('arguments: (_) @arguments (#count? @arguments "2")', ["a::g"]),
        ('arguments: (_) @arguments (#not-count? @arguments "2")', ["f", "a::gg", "h"]),
    ],
)
def test_predicates(facts, predicate, expected):
    text = (
        "__device__ void k() { f(1); }\n"
        "__host__ __device__ void l() { a :: g(1, 2); a::gg(); }\n"
        "void h(int);\nvoid m() { if (x) h<int>(1); }\n"
    )

    assert facts(CALL.format(predicate), text, "call", terms={"a::g": "why"}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("other::a::b x;", [False, True]), ("::a::b x;", [False, False]), ("a::b x;", [False])],
)
def test_name_after_another_scope(search, text, expected):
    query = "((qualified_identifier) @match{})"
    every = search(query.format(""), text)
    scoped = search(query.format(" (#scoped? @match)"), text)

    assert [match in scoped for match in every] == expected


def test_facts_reason_and_severity(search):
    query = CALL.format('(#term? @call) (#set! text "{call} ({why}, {term})") (#set! severity "note")')
    (match,) = search(query, "void f() { g<int>(1); }", terms={"g": "because"})

    assert match.facts == {"call": "g", "term": "g", "why": "because", "text": "g (because, g)"}
    assert match.severity == "note"


def test_text_as_it_is_written(search):
    (match,) = search("(call_expression function: (_) @call @text.whole) @match", "void f() { g<int,\n  2>(1); }")

    assert match.facts == {"call": "g", "whole": "g<int, 2>"}


def test_term_of_a_pattern(search):
    (match,) = search(CALL.format('(#set! term "x")'), "void f() { g(); }", terms={"x": "because"})

    assert match.facts == {"call": "g", "term": "x", "why": "because"}


def test_term_inside(facts):
    query = '((gnu_asm_expression) @match (#term-inside? @match) (#set! name "{term}"))'
    text = 'void f() { asm("mma.sync.x;"); asm("wgmma.sync;"); asm("a.mma.sync;"); }'

    assert facts(query, text, "name", terms={"mma.sync": "", "wgmma": "x"}) == ["mma.sync", "wgmma"]


TWO_PATTERNS = '(init_declarator declarator: (_) @known.name)\n((identifier) @use @match (#{}? @use "name"))'


def test_known_text(facts):
    assert facts(TWO_PATTERNS.format("known"), "int a = 1, b = 2; int c = a + d;", "use") == ["a", "b", "c", "a"]
    assert facts(TWO_PATTERNS.format("not-known"), "int a = 1; int c = a + d;", "use") == ["d"]


def test_pattern_sees_only_what_patterns_above_it_collected(search):
    lines = TWO_PATTERNS.format("known").splitlines()

    assert search("\n".join(reversed(lines)), "int a = 1;") == []


def test_within_a_collected_node(facts):
    query = '(if_statement) @known.branch\n((identifier) @use @match (#within? @use "branch"))'

    assert facts(query, "void f() { a; if (b) { c; if (d) e; } g; }", "use") == list("bcde")


def test_above_a_collected_node(facts):
    query = (
        '((identifier) @known.x (#eq? @known.x "x"))\n'
        '((binary_expression) @text @match (#above? @match "x" "binary_expression" "parenthesized_expression"))'
    )

    assert facts(query, "int a = 1 + (x * 2); int b = 3 + f(x); int c = 4 + y;", "text") == ["1 + (x * 2)", "x * 2"]


@pytest.mark.parametrize(
    ("parameters", "lines"),
    [({}, [1, 1, 2, 2]), ({"once": "line"}, [1, 2]), ({"once": "file"}, [1]), ({"once": "call"}, [1, 1, 2])],
)
def test_once(search, parameters, lines):
    text = "void f() { a(); b(); }\nvoid g() { a(); c(); }\n"

    assert [match.line for match in search(CALL.format(""), text, **parameters)] == lines


def test_once_for_one_pattern(facts):
    query = CALL.format('(#eq? @call "a") (#set! once "file")') + CALL.format('(#eq? @call "b")')

    assert facts(query, "void f() { a(); a(); b(); b(); }", "call") == ["a", "b", "b"]


def test_outermost(facts):
    assert facts(CALL.format(""), "void f() { a(b(c)); d(); }", "call", outermost=True) == ["a", "d"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void f(half* p) { g(p + 1); }", ["half"]),
        ("void f(char* p) { g((half*)p); }", ["half"]),
        ("void f(float* p) { g(p); }", []),
    ],
)
def test_pointer_to_a_term(facts, text, expected):
    query = "(call_expression arguments: (argument_list . (_) @pointer (#points-to-term? @pointer))) @match"

    assert facts(query, text, "pointee", terms={"half": ""}) == expected


def test_pointer_to_a_collected_type(facts):
    query = (
        "(type_parameter_declaration . (_) @known.type)\n"
        '(call_expression arguments: (argument_list . (_) @pointer (#points-to? @pointer "type"))) @match'
    )

    assert facts(query, "template <class T> void f(T* p, float* q) { g(p); g(q); }", "pointee") == ["T"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [("unsigned m = vote();", ["unsigned m"]), ("popc(vote());", ["popc"]), ("auto m = vote();", [])],
)
def test_value_in_32_bits(facts, statement, expected):
    query = CALL.format('(#eq? @call "vote") (#narrowed? @match)')

    assert facts(query, f"void f() {{ {statement} }}", "receiver", terms={"popc": "32 bits"}) == expected


@pytest.mark.parametrize(("builds", "lines"), [("both", [1]), ("rocm", [1, 3])])
def test_code_of_one_build(search, builds, lines):
    text = "int a;\n#ifdef USE_ROCM\nint b;\n#ifdef __gfx90a__\nint c;\n#endif\n#else\nint d;\n#endif\n"

    assert [match.line for match in search("((declaration) @match)", text, builds=builds)] == lines


@pytest.mark.parametrize(
    ("shim", "clues", "unless"),
    [
        ("{call}", ["CU201 g"], "CU201 g"),
        ("g", ["CU201 g"], "CU201 g"),
        ("other", ["CU201 other"], "CU201 other"),
        ("g({type}", ["CU201 g(half"], "CU201 g(float"),
    ],
)
def test_shim_of_another_file(search, shim, clues, unless):
    query = CALL.format('(#set! type "float")')
    text = "#ifdef USE_ROCM\nvoid g(half x);\n#define other 1\n#endif\nvoid f() { g(1.0f); }\n"
    matches = search(query, text, shim=shim, terms={"g": "why", "half": "why"})

    assert [item.name for item in matches if isinstance(item, Clue)] == clues
    assert [item.unless for item in matches if not isinstance(item, Clue)] == [unless]


def test_nested_calls_are_searched_in_linear_time(search):
    query = '(call_expression function: (_) @known.f (#eq? @known.f "f"))\n' + CALL.format(
        '(#known? @call "f") (#within? @call "f")'
    )

    assert len(search(query, "int a = " + "f(" * 20_000 + ")" * 20_000 + ";" + "f();" * 20_000)) > 1
