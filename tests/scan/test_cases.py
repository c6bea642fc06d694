from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.scan.cases import parse_cases, rule_cases

LAUNCH = b"k<< <1, 2>> >(x);"


@pytest.fixture
def rule(known):
    return known.codes["CU301"]


@pytest.fixture
def parse(rule):
    return lambda text: list(parse_cases("found.txt", text, rule))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"int a;\n", "found.txt:1: source code without a header"),
        (b"==== a.cu\n\n==== b.cu here\n", "found.txt:3: 'here' is not a position"),
        (b"==== a.cu 1\n", "'1' is not a position"),
        (b"==== a.cu 1:2=fatal\n", "'1:2=fatal' is not a position"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(parse, text, message):
    with pytest.raises(UserError, match=message):
        parse(text)


def test_a_missing_folder_has_no_cases(tmp_path, rule):
    assert rule_cases(tmp_path / "none", rule) == []


def test_files_positions_and_messages(parse):
    first, second = parse(
        b"==== a.cu 2:1 3:4=note\n==== 2:1 the text  of it\n\n1\n==== and b.h no-newline\n2\n==== c/d.cu\n\xff\r\n"
    )

    assert first.files == {"a.cu": b"\n1\n", "b.h": b"2"}
    assert first.expected == ["a.cu 2:1 error", "a.cu 3:4 note"]
    assert first.messages == {"a.cu 2:1": "the text of it"}
    assert (second.name, second.files, second.expected) == ("found.txt:7", {"c/d.cu": b"\xff\r\n"}, [])


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b"a.cu 1:2", ""),
        (b"a.cu", "found.txt:1: finds ['a.cu 1:2 error'] instead of nothing"),
        (b"a.cu 1:2=note", "found.txt:1: finds ['a.cu 1:2 error'] instead of ['a.cu 1:2 note']"),
        (b"a.txt 1:2", "found.txt:1: finds nothing instead of ['a.txt 1:2 error']"),
        (b"a.cu 1:2\n==== 1:2 other", "found.txt:1: no finding says 'other'"),
    ],
)
def test_problem_says_what_differs(parse, rule, known, header, problem):
    (case,) = parse(b"==== " + header + b"\n" + LAUNCH + b"\n")

    assert case.problem(rule, known) == problem
