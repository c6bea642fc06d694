from __future__ import annotations

from rocm3d.verify.resolution.sets import ExcludedRequirement, RequirementLine, RequirementSet, prepare
from rocm3d.workspace.web import WebClient

AWAY = "http://127.0.0.1:9"


def line(text: str, url: str = "") -> RequirementLine:
    return RequirementLine(text.partition("=")[0], text, url)


def test_an_unreachable_url_is_excluded():
    requirement_set = RequirementSet("r", (line("a"), RequirementLine("b", f"git+{AWAY}/o/b", f"git+{AWAY}/o/b")))

    prepared_set = prepare(requirement_set, WebClient())

    assert [item.text for item in prepared_set.lines] == ["a"]
    assert prepared_set.excluded == (ExcludedRequirement("b", f"{AWAY}/o/b: Connection refused"),)


def test_a_local_version_stays_by_default():
    prepared_set = prepare(RequirementSet("r", (line("torch==2.1.0+cu121"),)), WebClient())

    assert [item.text for item in prepared_set.lines] == ["torch==2.1.0+cu121"]
    assert prepared_set.notes == ()


def test_a_local_version_loses_its_suffix_if_its_index_is_unreachable():
    requirement_set = RequirementSet(
        "r", (line("torch==2.1.0+cu121 ; x"),), (line("torch==2.1.0+cu121"),), (f"{AWAY}/whl",)
    )

    prepared_set = prepare(requirement_set, WebClient(), plain_versions=True)

    assert [item.text for item in prepared_set.lines] == ["torch==2.1.0 ; x"]
    assert [item.text for item in prepared_set.constraints] == ["torch==2.1.0"]
    assert len(prepared_set.notes) == 2


def test_reachable_indexes_and_pages_are_used(index):
    urls = (index.url, f"{index.url}/page.html", f"{AWAY}/whl")
    prepared_set = prepare(
        RequirementSet("r", (line("torch==2.1.0+cu121"),), urls=urls), WebClient(), plain_versions=True
    )

    assert (prepared_set.indexes, prepared_set.pages) == ((index.url,), (f"{index.url}/page.html",))
    assert [item.text for item in prepared_set.lines] == ["torch==2.1.0+cu121"]


def test_names_and_passwords_are_not_shown():
    prepared_set = prepare(RequirementSet("r", (line("a"),), urls=("http://me:secret@127.0.0.1:9/whl",)), WebClient())

    assert "secret" not in " ".join(prepared_set.notes)
