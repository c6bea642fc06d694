from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.model.rule import RuleMatcher
from rocm3d.scan.detector import DetectorContext, load_detectors
from rocm3d.syntax.python import PythonUnit


@pytest.fixture
def search(known, make_package):
    """Packages of the matches; None if the prefilter refuses the file."""

    def run(text: str, terms=(), own=(), **parameters):
        packages = [
            make_package(name, name, "keep" if name == "kept" else "drop").model_copy(update={"imports": (name,)})
            for name in ("kept", "one", "two", "xformers")
        ]
        knowledge = replace(known, packages={package.id: package for package in packages})
        matcher = RuleMatcher(kind="package_import", parameters=parameters)
        rule = known.codes["PY103"].model_copy(update={"matcher": matcher, "terms": dict.fromkeys(terms, "why")})
        knowledge = replace(knowledge, codes={**knowledge.codes, "PY103": rule})
        (detector,), unit = load_detectors(rule), PythonUnit("a.py", text.encode())
        context = DetectorContext(rule, knowledge, detector.parameters, frozenset(own))
        if not detector.can_match(unit, context):
            return None
        return [(match.package, match.severity) for match in detector.find(unit, context)]

    return run


def test_required_and_optional_imports(search):
    text = "import one\ndef f():\n    import two\n    import one\n"

    assert search(text, when="required") == [("one", None)]
    assert search(text, when="optional") == [("two", None), ("one", None)]


def test_imports_by_name_are_optional(search):
    text = "m = __import__('one')\n"

    assert search(text, when="required") is None
    assert search(text, when="optional") == [("one", None)]


def test_excluded_packages(search):
    text = "import one, two, xformers\n"

    assert search(text, terms=["one"], when="required") == [("two", None), ("xformers", None)]
    assert search(text, terms=["one"], when="required", reported_by=["xformers_import"]) == [("two", None)]
    assert search("import one\n", terms=["one"], when="required") is None
    assert search("import one\n", own=["one"], when="required") is None
    assert search("import numpy\n", when="required") is None


def test_terms_of_another_rule(search):
    assert search("import xformers, one\n", terms=["one"], when="required", terms_of="xformers_import") == [
        ("one", None)
    ]


def test_severity_if_a_route_keeps_the_import(search):
    assert search("import kept, one\n", when="required", kept_import="note") == [("kept", "note"), ("one", None)]
