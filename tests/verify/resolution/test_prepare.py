from __future__ import annotations

from rocm3d.verify.resolution.prepare import Aside, prepare
from rocm3d.verify.resolution.sets import Line, RequirementSet
from rocm3d.workspace.web import WebClient

AWAY = "http://127.0.0.1:9"


def line(text: str, url: str = "") -> Line:
    return Line(text.partition("=")[0], text, url)


def test_an_address_that_does_not_answer_is_set_aside_by_name():
    given = RequirementSet("r", (line("a"), Line("b", f"git+{AWAY}/o/b", f"git+{AWAY}/o/b")))

    found = prepare(given, WebClient())

    assert [item.text for item in found.lines] == ["a"]
    assert found.aside == (Aside("b", f"{AWAY}/o/b: Connection refused"),)


def test_a_local_version_stays_where_it_is_judged():
    found = prepare(RequirementSet("r", (line("torch==2.1.0+cu121"),)), WebClient())

    assert [item.text for item in found.lines] == ["torch==2.1.0+cu121"]
    assert found.notes == ()


def test_a_local_version_loses_its_ending_where_its_index_does_not_answer():
    given = RequirementSet("r", (line("torch==2.1.0+cu121 ; x"),), (line("torch==2.1.0+cu121"),), (f"{AWAY}/whl",))

    found = prepare(given, WebClient(), plain_versions=True)

    assert [item.text for item in found.lines] == ["torch==2.1.0 ; x"]
    assert [item.text for item in found.constraints] == ["torch==2.1.0"]
    assert len(found.notes) == 2


def test_indexes_and_pages_that_answer_are_asked(index):
    urls = (index.url, f"{index.url}/page.html", f"{AWAY}/whl")
    found = prepare(RequirementSet("r", (line("torch==2.1.0+cu121"),), urls=urls), WebClient(), plain_versions=True)

    assert (found.indexes, found.pages) == ((index.url,), (f"{index.url}/page.html",))
    assert [item.text for item in found.lines] == ["torch==2.1.0+cu121"]


def test_names_and_passwords_are_not_told():
    found = prepare(RequirementSet("r", (line("a"),), urls=("http://me:secret@127.0.0.1:9/whl",)), WebClient())

    assert "secret" not in " ".join(found.notes)
