from __future__ import annotations

import pytest

from rocm3d.verify.resolution import session
from rocm3d.verify.resolution.verdicts import verdict
from rocm3d.verify.resolution.visit import visit


def never(here):
    pytest.fail("the probe ran")


def test_without_a_stack_nobody_looks(ported):
    (found,) = visit(ported(base=None), "p", never)

    assert (found.outcome, found.reason) == ("skipped", "the plan chose no stack")


def test_without_the_resolver_nobody_looks(ported, monkeypatch, no_settings):
    monkeypatch.setattr(session, "find_uv", lambda: None)

    assert [item.outcome for item in visit(ported(), "p", never)] == ["not_run"]


def test_without_the_index_nobody_looks(ported, monkeypatch, no_settings):
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")

    (found,) = visit(ported(), "p", never)

    assert found.reason == "the index http://127.0.0.1:9/simple does not respond: Connection refused"


def test_the_same_verdict_is_given_once(ported, index):
    found = visit(ported(), "p", lambda here: [verdict("p", "passed", "", ["a"]), verdict("p", "passed", "", ["a"])])

    assert len(found) == 1
