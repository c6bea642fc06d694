from __future__ import annotations

import pytest
from rule_matches import detectors_with_context

from rocm3d.model.rule import RuleMatcher
from rocm3d.scan.detector import Clue
from rocm3d.syntax.cuda import CudaUnit

CALL = r"\b(?P<name>\w+)\s*\("


@pytest.fixture
def search(known):
    """The matches of a pattern, None where the prefilter rejects the file."""

    def run(text: str, pattern: str = CALL, *, terms: dict[str, str] | None = None, **parameters):
        matcher = RuleMatcher(kind="cuda_text", parameters={"pattern": pattern, **parameters})
        rule = known.codes["CU201"].model_copy(update={"matcher": matcher, "terms": terms or {}})
        unit = CudaUnit("a.cu", text.encode())
        ((detector, context),) = detectors_with_context(rule, known)
        return list(detector.find(unit, context)) if detector.can_match(unit, context) else None

    return run


def names(matches):
    return [match.facts["name"] for match in matches]


def test_comments_and_strings_are_not_searched(search):
    (match,) = search('// a(\n/* b( */ const char* s = "c(";\n#define D \\\n  e(1)\n')

    assert (match.line, match.column, match.facts) == (4, 3, {"name": "e"})


def test_spaces_of_a_fact_are_collapsed(search):
    (match,) = search("f(a,\n  b)", r"(?P<text>f\([^)]*\))")

    assert match.facts == {"text": "f(a, b)"}


def test_term_with_wildcards_gives_position_and_reason(search):
    matches = search(
        "x.f(1); ::f1(1); f2b(1); f9(1); g(1);", r"(?:::)?" + CALL, term="name", terms={"f[12]*": "because"}
    )

    assert [(match.column, match.facts) for match in matches] == [
        (11, {"name": "f1", "why": "because"}),
        (18, {"name": "f2b", "why": "because"}),
    ]


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("g;", {"contains": ["f"]}),
        ("g(1);", {"terms": {"f*_b": ""}, "term": "name"}),
        ("g(1);", {"terms": {"[ab]c": ""}, "term": "name"}),
        ("g;", {}),
    ],
)
def test_file_without_text_terms_or_pattern_is_not_searched(search, text, parameters):
    assert search(text, **parameters) is None


def test_unless_the_file_has_an_expression(search):
    assert search("#define f(x) x\nf(1);", unless=r"#\s*define\s+f\b") == []
    assert len(search("// #define f(x) x\nf(1);", unless=r"#\s*define\s+f\b")) == 1


def test_unless_the_line_has_an_expression(search):
    assert [match.line for match in search("f(1); skip;\nf(2);\nskip f(3);", unless_line="skip")] == [2]


@pytest.mark.parametrize("text", ["#define f(x) x\n", "#define f g\n", "int f(int);\n"])
def test_names_that_the_file_defines(search, text):
    parameters = {"term": "name", "terms": {"f": "because", "h": "because"}}

    assert names(search(text + "int a = f(1) + h(1);", unless_defined=True, **parameters)) == ["h"]
    assert "f" in names(search(text + "int a = f(1) + h(1);", **parameters))


@pytest.mark.parametrize(
    ("once", "expected"),
    [
        ("file", [(1, "3 times in this file")]),
        ("line", [(1, "2 times in this line"), (2, "once in this line")]),
    ],
)
def test_once_counts(search, once, expected):
    assert [(m.line, m.facts["count"]) for m in search("f(1); g(1);\nf(2);\n", once=once)] == expected


@pytest.mark.parametrize(("builds", "expected"), [("both", ["a"]), ("rocm", ["a", "b"])])
def test_code_of_one_build(search, builds, expected):
    text = "a();\n#ifdef USE_ROCM\nb();\n#if defined(__gfx90a__)\nc();\n#endif\n#else\nd();\n#endif\n"

    assert names(search(text, r"\b(?P<name>[a-d])\(", builds=builds)) == expected


def test_shim_of_another_file(search):
    clue, match = search("#ifdef USE_ROCM\n#define f(x) x\n#endif\nf(1);", shim="{name}", terms={"f": "why"})

    assert (clue, match.unless) == (Clue("CU201 f"), "CU201 f")


def test_many_matches_in_one_line_are_fast(search):
    assert search("skip " + "f(1); " * 100_000, unless_line="skip") == []
