from __future__ import annotations

import pkgutil

import pytest

from rocm3d import render
from rocm3d.model.errors import UserError
from rocm3d.model.evidence import Evidence
from rocm3d.model.fit import Fit
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.verdict import Verdicts
from rocm3d.render.formats import FORMATS, RenderContext, format_names, join_alternatives, refuse_unknown_format


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(UserError, match="--format yaml is not supported here") as refused:
        refuse_unknown_format("yaml", format_names(Plan))

    assert refused.value.hint == "use console, json or markdown"


def test_every_format_but_json_is_a_module_of_render():
    assert set(FORMATS) - {"json"} <= {entry.name for entry in pkgutil.iter_modules(render.__path__)}


def test_which_documents_have_which():
    assert format_names(Scan) == ("console", "json", "sarif", "markdown", "html")
    assert format_names(Plan) == format_names(Verdicts) == format_names(Fit) == ("console", "json", "markdown")
    assert format_names(Patch) == format_names(Evidence) == ("console", "json")


def test_listed():
    assert join_alternatives(["a"]) == "a"
    assert join_alternatives(["a", "b"]) == "a or b"
    assert join_alternatives(["a", "b", "c"]) == "a, b or c"


def test_every_promised_form_exists(make, knowledge):
    documents = [make.scan(make.finding()), make.plan(), make.patch(make.change()), make.verdicts(), make.evidence()]
    documents.append(make.fit())
    for document in documents:
        for name in format_names(type(document)):
            assert FORMATS[name].render(document, RenderContext(lambda: knowledge)), name


def test_console_and_json_load_no_knowledge(make):
    def never():
        raise AssertionError

    for name in ("console", "json", "html"):
        FORMATS[name].render(make.scan(make.finding()), RenderContext(never))
