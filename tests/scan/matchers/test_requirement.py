from __future__ import annotations

import pytest
from rule_matches import rule_matches

from rocm3d.manifest.manifest import InstallOption, Mention, ParsedManifest
from rocm3d.model.rule import RuleMatcher

INDEX = InstallOption(("https://host/rocm6.4",), (), 1, 1, 1)


def mention(name: str, **values) -> Mention:
    return Mention(name, name, 1, 1, 1, **values)


@pytest.fixture
def search(known):
    def run(*mentions: Mention, kind: str = "requirements", options=(), **parameters):
        matcher = RuleMatcher(kind="requirement", parameters=parameters)
        terms = {"Some_Name": "why", "cu12": "CUDA 12", "linux": "Linux"}
        rule = known.codes["DEP204"].model_copy(update={"matcher": matcher, "terms": terms})
        unit = ParsedManifest("x/a.txt", kind, data=b"\n", mentions=mentions, options=options)
        return list(rule_matches(rule, unit, known))

    return run


def test_names_are_compared_in_canonical_form(search):
    (match,) = search(mention("some.name", version="==1", extras=frozenset("xa")), mention("some"))

    assert match.facts == {
        "file": "a.txt", "version": "==1", "url": "", "name": "some.name", "requirement": "some.name[a,x]==1",
        "term": "Some_Name", "why": "why",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "parameters", "count"),
    [
        ({"version": "==1+cu121"}, {"version": r"\+cu"}, 1),
        ({"version": "==1"}, {"version": r"\+cu"}, 0),
        ({"version": "==1+cu121"}, {"not_version": r"\+"}, 0),
        ({"version": "==1"}, {"not_version": r"\+"}, 1),
        ({"url": "https://x/a.whl"}, {"url": r"\.whl$"}, 1),
        ({"url": "https://x/a.tar"}, {"url": r"\.whl$"}, 0),
        ({"url": "https://x/a%2Bcpu"}, {"not_url": r"\+cpu"}, 0),
        ({}, {"not_url": "."}, 1),
        ({"section": "conda"}, {"conda": False}, 0),
        ({"section": "conda"}, {}, 1),
        ({"version": "==1+rocm6"}, {"rocm": False}, 0),
        ({"version": "==1+rocm6"}, {}, 1),
        ({"url": "git+https://x/y"}, {"default_index": True}, 0),
        ({}, {"default_index": True}, 1),
        ({"section": "build-system"}, {"not_sections": ["build-system"]}, 0),
        ({}, {"not_kinds": ["requirements"]}, 0),
        ({}, {"not_kinds": ["locks"]}, 1),
    ],
)
def test_left_out(search, values, parameters, count):
    assert len(search(mention("some-name", **values), **parameters)) == count


def test_index_of_the_file_counts(search):
    assert search(mention("some-name"), options=(INDEX,), rocm=False) == []
    assert search(mention("some-name"), options=(INDEX,), default_index=True) == []


def test_any_name_with_named_groups(search):
    (match,) = search(mention("other", version="==1+cu121"), by="any", version=r"\+(?P<build>cu\d+)")

    assert match.facts["build"] == "cu121"


def test_terms_in_the_url(search):
    url = {"url": "https://x/%s-linux.whl"}
    known, other = mention("gsplat", **url), mention("other", **url)

    assert len(search(mention("other", url="https://x/cu12"), by="url")) == 1
    assert len(search(known, other, mention("none"), by="url")) == 2
    assert [m.package for m in search(known, other, by="url", package_terms=["linux"])] == ["gsplat"]


def test_extras_of_the_package_record(search):
    (match,) = search(mention("rembg", extras=frozenset({"gpu", "cli"})), mention("rembg"), by="extra")

    assert (match.facts["requirement"], match.facts["why"]) == ("rembg[gpu]", "onnxruntime-gpu")


@pytest.mark.parametrize(
    ("kind", "values", "severity"),
    [
        ("requirements", {}, None),
        ("markdown", {}, "note"),
        ("setup_py", {"section": "project", "version": ">=2"}, "note"),
        ("setup_py", {"section": "project", "version": "==2"}, None),
        ("setup_py", {"section": "other", "version": ">=2"}, None),
    ],
)
def test_severity(search, kind, values, severity):
    parameters = {"note_sections": ["project"], "note_unless": "=="}

    assert [m.severity for m in search(mention("some-name", **values), kind=kind, **parameters)] == [severity]
