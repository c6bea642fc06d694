from __future__ import annotations

import pytest
from rule_matches import rule_matches

from rocm3d.model.rule import RuleMatcher
from rocm3d.syntax.cuda import CudaUnit


@pytest.fixture
def guards(known):
    """The conditions that differ, for the macros A and B."""

    def run(text: str, path: str = "a.cu", **parameters):
        matcher = RuleMatcher(kind="preprocessor_condition", parameters=parameters)
        rule = known.codes["CU201"].model_copy(update={"matcher": matcher, "terms": {"A": "", "B": ""}})
        matches = rule_matches(rule, CudaUnit(path, text.encode()), known)
        return [(match.line, match.facts["guard"]) for match in matches]

    return run


@pytest.mark.parametrize(
    "condition",
    ["#ifdef C", "#if A < 0", "#if defined(USE_ROCM) || defined(A)", "#if A >= 0", "#if defined(C) && !1"],
)
def test_conditions_that_both_builds_decide_alike(guards, condition):
    assert guards(f"{condition}\nint a;\n#endif\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#ifdef A\nint a;\n#endif\n", [(1, "defined(A)")]),
        ("#ifndef A\nint a;\n#endif\n", [(1, "!defined(A)")]),
        ("int b;\n#if A  >= 800\nint a;\n#endif\n", [(2, "A >= 800")]),
        ("#ifdef C\n#elif defined(B)\nint a;\n#endif\n", [(2, "defined(B)")]),
        ("#ifdef USE_ROCM\n#ifdef A\nint a;\n#endif\n#endif\n", []),
        ("#ifdef A\n#elif defined(__HIP__)\n#endif\n", []),
    ],
)
def test_conditions_that_differ(guards, text, expected):
    assert guards(text) == expected


@pytest.mark.parametrize(("path", "expected"), [("a.cu", []), ("a.inl", [(1, "defined(A)")])])
def test_macro_that_hipify_translates_in_files_it_reads(guards, path, expected):
    assert guards("#ifdef A\nint a;\n#endif\n", path, translated=["A"]) == expected


@pytest.mark.parametrize(("choices", "expected"), [(False, []), (True, [(1, "A < 0")])])
def test_choice_between_two_branches(guards, choices, expected):
    assert guards("#if A < 0\nint a;\n#else\nint b;\n#endif\n", choices=choices) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [("#pragma once\n  # pragma x\n", []), ("#pragma x\nint a;\n", [(1, "defined(A)")]), ("", [(1, "defined(A)")])],
)
def test_only_pragmas(guards, body, expected):
    assert guards(f"#ifdef A\n{body}#endif\n", ignore_pragmas=True) == expected
    assert guards(f"#ifdef A\n{body}#endif\n") == [(1, "defined(A)")]
