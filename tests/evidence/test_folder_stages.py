from __future__ import annotations

import pytest

from rocm3d.evidence.folder import StageDocuments
from rocm3d.model.base import SCHEMA_VERSION
from rocm3d.model.errors import UserError

VERSION = f'"schema_version": "{SCHEMA_VERSION}"'


@pytest.fixture
def files(documents):
    plan, patch, verdicts = documents(changed=2, refused=1, outcomes=["passed", "not_run"], decisions=["blocked"])
    return {
        "plan.json": plan.to_json().encode(),
        "patch.json": patch.to_json().encode(),
        "verdicts.json": verdicts.to_json().encode(),
    }


def test_a_document_of_another_schema_is_refused_in_one_line(files):
    newer = files["plan.json"].replace(VERSION.encode(), b'"schema_version": "9.0"')

    with pytest.raises(UserError, match=r"plan\.json has schema 9\.0"):
        StageDocuments({"plan.json": newer})


def test_what_is_no_document_is_refused():
    with pytest.raises(UserError, match=r"plan\.json is not JSON"):
        StageDocuments({"plan.json": b"\xff\xfe"})


def test_nothing_is_empty():
    stages = StageDocuments({})

    assert (stages.summaries(), stages.verdicts(), stages.tally()) == ((), (), None)


def test_without_verdicts_no_counts_exist(files):
    del files["verdicts.json"]

    assert StageDocuments(files).tally() is None


def test_each_stage_in_one_line_in_their_order(files):
    stages = StageDocuments(dict(reversed(files.items())))

    assert [(entry.stage, entry.path, entry.says) for entry in stages.summaries()] == [
        ("plan", "documents/plan.json", "partial on MI300X with no stack; decisions: 1"),
        ("apply", "documents/patch.json", "files changed: 2, tasks: 0"),
        ("verify", "documents/verdicts.json", "1 passed, 0 failed, 0 skipped, 1 not_run"),
    ]
    assert stages.tally().rejected == 2
    assert [entry.outcome for entry in stages.verdicts()] == ["passed", "not_run"]
