from __future__ import annotations

import json

import pytest

from rocm3d.model.base import SCHEMA_VERSION


def documents(make):
    return [
        make.scan(make.finding(message="größe \x1b[31m 日本")),
        make.plan(make.decision("gsplat", "stub")),
        make.patch(make.change(diff="+a\n")),
        make.verdicts(),
        make.evidence(),
    ]


@pytest.mark.parametrize("index", range(5))
def test_round_trip(make, index):
    document = documents(make)[index]
    text = document.to_json()

    assert type(document).from_json(text, "it") == document
    assert type(document).from_json(text, "it").to_json() == text


@pytest.mark.parametrize("index", range(5))
def test_text_is_one_object_with_its_version_and_a_final_newline(make, index):
    text = documents(make)[index].to_json()

    assert json.loads(text)["schema_version"] == SCHEMA_VERSION
    assert text.endswith("}\n")
    assert "\x1b" not in text
