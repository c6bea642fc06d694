"""rocm3d fit PATH: with and without a record of the repository."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

PORTS = Path(__file__).resolve().parents[2] / "knowledge" / "ports"


@pytest.fixture
def hunyuan(tmp_path):
    """A folder that an overlay record recognises by one file."""
    text = (PORTS / "hunyuan3d-2.1.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?ms)^marks = \[.*?\]\n", "", text)
    overlay = tmp_path / "records" / "ports"
    overlay.mkdir(parents=True)
    (overlay / "hunyuan3d-2.1.toml").write_text(f'marks = ["hy3d-mark.py"]\n{text}', encoding="utf-8")
    folder = tmp_path / "any-name"
    folder.mkdir()
    (folder / "hy3d-mark.py").write_text("import torch\n")
    (folder / "requirements.txt").write_text("torch==2.5.1+cu124\ntorchvision\ncupy-cuda12x\nnumpy\n")
    return folder, overlay.parent


def run(rocm3d, *words, form="json"):
    ended = rocm3d("fit", *words, "--format", form)
    assert ended.code == 0, ended.err
    return json.loads(ended.out) if form == "json" else ended


def require_kaolin(folder):
    """Adds kaolin, which the example only imports optionally, to its requirements."""
    with (folder / "requirements.txt").open("a") as requirements:
        requirements.write("kaolin\n")
    return folder


def test_unknown_checkout_with_an_earlier_date_is_refused(rocm3d, example):
    ended = rocm3d("fit", example("pins-only"), "--gpu", "mi300x", "--as-of", "2025-01-01")

    assert ended.code == 2
    assert "pins-only is not a known repository" in ended.err


def test_an_unknown_card_is_refused_for_a_checkout_too(rocm3d, example):
    ended = rocm3d("fit", example("pins-only"), "--gpu", "mi300x", "--against", "h10")

    assert ended.code == 2
    assert "unknown NVIDIA card 'h10'" in ended.err


def test_unknown_checkout_is_reported_and_its_dependencies_are_planned(rocm3d, example):
    document = run(rocm3d, require_kaolin(example("mesh-bake")), "--gpu", "mi300x", "--against", "h100")

    assert (document["model"], document["viability"], document["memory"]) == (None, None, [])
    assert document["notes"] == ["not a known repository; its memory needs are unknown"]
    cost = document["comparison"]["dependencies"]
    assert sum(cost["counts"].values()) > 0
    assert "kaolin" in {item["name"] for item in (*cost["losses"], *cost["blocked"])}
    assert document["comparison"]["aspects"][-1]["cuda"] == ["unchanged"]


def test_a_known_checkout_is_recognised_by_its_files_and_not_by_its_name(rocm3d, hunyuan):
    folder, records = hunyuan
    document = run(rocm3d, folder, "--gpu", "rx 9070 xt", "--knowledge", records)

    assert (document["model"], document["repository"]) == ("hunyuan3d-2.1", "any-name")
    assert [(mode["mode"], mode["fits"]) for mode in document["memory"]] == [
        ("shape", True),
        ("texture", False),
        ("shape and texture", False),
    ]
    assert document["comparison"]["dependencies"]["counts"]
    assert [card["id"] for card in document["comparison"]["against"]] == ["rtx-5080"]


def test_folder_wins_over_a_record_of_the_same_name(rocm3d, hunyuan):
    folder, records = hunyuan
    named = folder.rename(folder.with_name("trellis"))
    ended = rocm3d("fit", "trellis", "--gpu", "mi300x", "--knowledge", records, cwd=named.parent)

    assert ended.code == 0, ended.err
    assert "trellis is a folder, so the folder is scanned" in ended.err
    assert ended.out.startswith("Hunyuan3D-2.1 on AMD Instinct MI300X")


def test_repository_is_unchanged_and_no_document_is_written(rocm3d, example, snapshot):
    folder = example("mesh-bake")
    before = snapshot(folder)
    run(rocm3d, folder, "--gpu", "mi300x")

    assert snapshot(folder) == before
    assert not list((folder / ".rocm3d").glob("*.json"))


def test_product_and_target_produce_the_same_bytes(rocm3d, example):
    folder = example("splat-trainer")
    texts = {rocm3d("fit", folder, "--gpu", gpu, "--format", "json").out for gpu in ("mi300x", "gfx942", "mi300x")}

    assert len(texts) == 1


def test_markdown_and_console_show_the_same_content(rocm3d, example):
    folder = require_kaolin(example("mesh-bake"))
    for form in ("console", "markdown"):
        text = run(rocm3d, folder, "--gpu", "mi300x", "--against", "h100", form=form).out
        assert "kaolin (stub) loses" in text
        assert "MI300X has 2.4 times the memory of NVIDIA H100 SXM" in " ".join(text.split())
