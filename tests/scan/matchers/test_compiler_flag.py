from __future__ import annotations

import pytest
from rule_matches import rule_matches

from rocm3d.model.rule import RuleMatcher
from rocm3d.syntax.python import PythonUnit

IMPORT = "from torch.utils.cpp_extension import load\nimport torch\n"


@pytest.fixture
def search(known):
    def run(text: str, **parameters):
        matcher = RuleMatcher(kind="compiler_flag", parameters=parameters)
        rule = known.codes["BLD104"].model_copy(update={"matcher": matcher, "terms": {"-a": "why", "-b": "", "m": ""}})
        unit = PythonUnit("setup.py", (IMPORT + text).encode())
        return list(rule_matches(rule, unit, known))

    return run


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ["-a", "-b"]),
        ({"prefix": True}, ["-a", "-ab", "-b"]),
        ({"prefix": True, "excluded": "ab|-b"}, ["-a"]),
        ({"pattern": "^-l(.+)$"}, ["-lm"]),
        ({"pattern": "^(?P<term>-a)(?P<rest>.+)$"}, ["-ab"]),
        ({"guarded": True}, ["-a", "-a", "-b"]),
        ({"device_only": True}, ["-a"]),
        ({"file_lacks": ["-lm"]}, []),
        ({"file_lacks": ["-ly"]}, ["-a", "-b"]),
    ],
)
def test_parameters(search, parameters, expected):
    text = "x = ['-a', '-ab', '-lm', '-lx']\ny = ['-a'] if torch.version.hip else []\nz = {'cxx': ['-b']}\n"

    assert [match.facts["flag"] for match in search(text, **parameters)] == expected


def test_facts_and_severity(search):
    (match,) = search("x = ['-ab']\n", pattern="^(?P<term>-a)(?P<rest>.+)$", severity="note")

    assert match.facts == {"flag": "-ab", "term": "-a", "rest": "b", "why": "why"}
    assert match.severity == "note"


def test_findings_that_are_close_are_one(search):
    text = "x = ['-a',\n'-a',\n'-a',\n'-a',\n'-lm',\n'-lm',\n'-a']\n"

    assert [match.line for match in search(text, group_lines="3")] == [3, 9]
