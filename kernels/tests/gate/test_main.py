from __future__ import annotations

import pytest
from gate import __main__ as gate


@pytest.mark.parametrize("make_folder", [False, True])
def test_folder_without_triton_is_refused(tmp_path, monkeypatch, capsys, make_folder):
    folder = tmp_path / "triton-0"
    if make_folder:
        folder.mkdir()
    monkeypatch.setattr("sys.argv", ["gate", "full", str(folder)])

    assert gate.main() == 2
    assert f"{folder} has no package triton" in capsys.readouterr().err
