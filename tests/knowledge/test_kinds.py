from __future__ import annotations

import subprocess
import sys

import pytest

from rocm3d.knowledge.kinds import FOLDERS, KINDS, RULES, SCAN_KINDS, SINGLES, TABLES
from rocm3d.model.base import Record


def test_an_unknown_kind_has_no_model():
    assert "gpus" not in FOLDERS
    with pytest.raises(KeyError):
        FOLDERS["gpus"]


@pytest.mark.parametrize("models", [FOLDERS, TABLES, SINGLES, RULES])
def test_every_kind_has_its_model(models):
    assert len(models) == len(list(models))
    assert all(issubclass(model, Record) for model in models.values())


def test_scan_kinds_are_kinds():
    assert set(SCAN_KINDS) <= set(KINDS)


def test_membership_imports_no_model():
    code = (
        "import sys; from rocm3d.knowledge.kinds import FOLDERS; "
        "print('targets' in FOLDERS, list(FOLDERS)[:1], 'pydantic' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout == "True ['targets'] False\n"
