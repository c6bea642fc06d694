from __future__ import annotations

import json
import os
from pathlib import Path


def test_invalid_entry_exits_2(rocm3d):
    ended = rocm3d("ledger", "add", "knn", "--link", "nowhere")

    assert ended.code == 2
    assert "'nowhere' is not a link" in ended.err


def test_a_fix_is_added_marked_and_shown(rocm3d):
    added = rocm3d("ledger", "add", "Simple KNN", "--unblocks", "splats,meshes", "--what", "64-bit masks")
    marked = rocm3d(
        "ledger", "mark", "simple", "--state", "refused", "--link", "https://x.org/1", "--note", "no hardware"
    )
    shown = rocm3d("ledger", "show")
    data = rocm3d("ledger", "show", "--state", "open", "--format", "json")

    assert (added.code, added.out) == (0, "simple-knn\n")
    assert "simple-knn: refused; https://x.org/1" in marked.err
    assert "refused simple-knn unblocks 2: splats, meshes" in shown.out
    assert "no hardware" in shown.out
    assert json.loads(data.out)["fixes"] == []
    assert (Path(os.environ["ROCM3D_DATA"]) / "ledger.json").is_file()
