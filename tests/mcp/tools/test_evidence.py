"""evidence as a tool, for bundles of runs."""

from __future__ import annotations

import json
import sys

import pytest

from rocm3d.model.errors import UserError


@pytest.fixture
def bundle(rocm3d, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert rocm3d("run", "--name", "small", "--", sys.executable, "-c", "print(1)").code == 0
    return next((tmp_path / ".rocm3d" / "runs").iterdir())


def test_neither_port_nor_bundle_is_refused(work, tmp_path):
    with pytest.raises(UserError, match="is not a folder"):
        work("evidence", path=str(tmp_path / "gone"))
    with pytest.raises(UserError, match=r"has no inventory\.json"):
        work("evidence", path=str(tmp_path))


def test_a_bundle_is_checked_and_compared_as_by_the_command_line(work, rocm3d, bundle):
    checked = work("evidence", path=str(bundle))
    compared = work("evidence", path=str(bundle), against=str(bundle))

    assert checked.document == json.loads(rocm3d("evidence", "check", bundle, "--format", "json", "-q").out)
    assert compared.document == json.loads(rocm3d("evidence", "diff", bundle, bundle, "--format", "json", "-q").out)
    (bundle / "added").write_text("x")
    assert work("evidence", path=str(bundle)).exit_code == 1
