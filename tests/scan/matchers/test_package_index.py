from __future__ import annotations

import pytest

from rocm3d.model.rule import RuleMatcher
from rocm3d.scan.detector import DetectorContext
from rocm3d.scan.matchers.package_index import index_facts


@pytest.mark.parametrize(
    ("url", "pattern", "expected"),
    [
        ("https://host/simple", r"cu(?P<version>\d+)", {}),
        ("https://host/cu121", r"cu(?P<version>\d+)", {"version": "121"}),
        ("https://host/x%2Bcu121", r"\+cu", {"url": "https://host/x%2Bcu121"}),
        ("https://own.example/x", r"cu", {"term": "own.example", "why": "an index"}),
    ],
)
def test_facts(known, url, pattern, expected):
    matcher = RuleMatcher(kind="package_index", parameters={"pattern": pattern})
    rule = known.codes["DEP102"].model_copy(update={"matcher": matcher, "terms": {"own.example": "an index"}})
    facts = index_facts(url, DetectorContext(rule, known, rule.matcher.parameters))

    assert bool(facts) is bool(expected)
    assert expected.items() <= facts.items()
