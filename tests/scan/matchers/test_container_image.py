from __future__ import annotations

import pytest
from rule_matches import rule_matches

from rocm3d.manifest.manifest import Image, ParsedManifest
from rocm3d.model.rule import RuleMatcher


@pytest.mark.parametrize(
    ("image", "term"),
    [
        ("one/base:1", "one/base"),
        ("one/base", "one/base"),
        ("one/base/more:2", "one/base"),
        ("one/baseless", None),
        ("docker.io/one/base", "one/base"),
        ("registry.example/all/x", "registry.example/all/"),
        ("registry.example/all:1", "registry.example/all/"),
        ("registry.example/other", None),
        ("one/base:1-cpu", None),
    ],
)
def test_names(known, image, term):
    matcher = RuleMatcher(kind="container_image", parameters={"not_tag": "cpu"})
    terms = {"one/base": "why", "registry.example/all/": "all"}
    rule = known.codes["BLD303"].model_copy(update={"matcher": matcher, "terms": terms})
    unit = ParsedManifest("Dockerfile", "docker", images=(Image(image, 3, 2),))
    matches = list(rule_matches(rule, unit, known))

    assert [(m.line, m.column, m.facts["term"]) for m in matches] == ([(3, 2, term)] if term else [])
