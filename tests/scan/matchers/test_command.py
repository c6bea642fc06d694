from __future__ import annotations

import pytest
from rule_matches import rule_matches

from rocm3d.manifest.manifest import ParsedManifest, ScriptCommand
from rocm3d.model.rule import RuleMatcher


@pytest.fixture
def search(known):
    """Matches in a file with these commands, written as words."""

    def run(commands: list[str], patterns: dict[str, str], kind: str = "cmake", data: bytes = b"", **parameters):
        matcher = RuleMatcher(kind="command", parameters={"patterns": patterns, **parameters})
        terms = {"one": "why 1", "two": "why 2", "a b": "why a", "set: x": "why x"}
        rule = known.codes["BLD203"].model_copy(update={"matcher": matcher, "terms": terms})
        words = [command.split(" ") for command in commands]
        script = tuple(ScriptCommand(n, tuple(rest), line, 1) for line, (n, *rest) in enumerate(words, 1))
        unit = ParsedManifest("a", kind, data=data, commands=script)
        return list(rule_matches(rule, unit, known))

    return run


def lines(matches):
    return [match.line for match in matches]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ({r"\A(one)$": ""}, [1]),
        ({r"^(\w+)$": ""}, [1, 1, 2, 2]),
        ({r"\A(\w+)$": ""}, [1]),
        ({r"\Aset$": "none", r"^(\w+)$": ""}, [1, 1]),
        ({r"(?P<term>two)\n(?P<rest>\w+)": ""}, [2]),
        ({r"two\n\w+": ""}, []),
        ({r"(a\nb)": ""}, [3]),
        ({r"(three)": ""}, []),
    ],
)
def test_patterns(search, patterns, expected):
    assert lines(search(["one two", "set two one", "call a b"], patterns)) == expected


def test_first_pattern_with_a_term_decides(search):
    patterns = {"(three)": "error", r"\A(one)$": "note", r"\A(one|two)$": "warning"}

    assert [m.severity for m in search(["one three", "two"], patterns)] == ["note", "warning"]


def test_facts(search):
    patterns = {r"\A(?P<term>one)\n(?P<next>\w+)": ""}
    (match,) = search(["one a b c d e"], patterns, facts={"text": "{term}/{next}"})

    assert match.facts == {
        "command": "one(a b c d ...)", "call": "one a b", "name": "one", "arguments": "a b c d e", "first": "a",
        "next": "a", "term": "one", "why": "why 1", "text": "one/a",
    }  # fmt: skip


def test_term_from_facts(search):
    (match,) = search(["set x", "set y"], {r"\Aset$": ""}, term="{name}: {first}")

    assert (match.line, match.facts["why"]) == (1, "why x")


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        ({"kinds": ["cmake"]}, 1),
        ({"kinds": ["docker", "shell"]}, 0),
        ({"file_has": ["x", "y"]}, 1),
        ({"file_has": ["x", "z"]}, 0),
        ({"file_lacks": ["z"]}, 1),
        ({"file_lacks": ["z", "y"]}, 0),
    ],
)
def test_files(search, parameters, count):
    assert len(search(["one"], {"(one)": ""}, data=b"x y", **parameters)) == count


@pytest.mark.parametrize(
    ("commands", "parameters", "severity"),
    [
        (["one"], {"no_project": "note"}, "note"),
        (["project x", "one"], {"no_project": "note"}, None),
        (["project x", "one"], {"not_required": "note"}, "note"),
        (["project x CUDA", "one"], {"not_required": "note"}, None),
        (["if WITH_CUDA", "one", "endif"], {"optional": "note"}, "note"),
        (["if WITH_CUDA", "endif", "one"], {"optional": "note"}, None),
    ],
)
def test_cmake(search, commands, parameters, severity):
    assert [match.severity for match in search(commands, {"(one)": ""}, **parameters)] == [severity]


def test_files_that_mention_rocm(search):
    assert search(["if USE_ROCM", "one"], {"(one)": ""}, without_rocm=True) == []
    assert len(search(["if USE_ROCM", "one"], {"(one)": ""})) == 1
