from __future__ import annotations

from xml.etree import ElementTree

from rocm3d.model.inventory import Matrix, MatrixColumn, MatrixRow
from rocm3d.render.svg import render

NAME = "{http://www.w3.org/2000/svg}"


def document(*names: str, **states: str) -> Matrix:
    rows = (MatrixRow(package="gs<plat>", family="gaussian", states=states),) if states else ()
    columns = tuple(MatrixColumn(repository=name, readiness="ready") for name in names)
    return Matrix(columns=columns, rows=rows, order=(), free=())


def test_nothing_is_still_a_picture():
    assert ElementTree.fromstring(render(document())).tag == f"{NAME}svg"


def test_names_are_text_and_no_markup():
    picture = ElementTree.fromstring(render(document("<script>", a="work")))

    assert not picture.findall(f".//{NAME}script")
    assert "<script>" in [entry.text for entry in picture.iter(f"{NAME}text")]


def test_every_cell_has_a_label_without_colour():
    picture = ElementTree.fromstring(render(document("a", "b", a="blocked")))
    titles = [entry.text for entry in picture.iter(f"{NAME}title")]

    assert titles == ["1 library in 2 repositories", "gs<plat> in a: no route known"]
