from __future__ import annotations

import json

import pytest


def fit(rocm3d, model, *options, gpu):
    ended = rocm3d("fit", model, "--gpu", gpu, "--format", "json", *options)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_unknown_subject_suggests_the_closest_names(rocm3d):
    ended = rocm3d("fit", "threestudo", "--gpu", "mi300x")

    assert (ended.code, ended.out) == (2, "")
    assert "'threestudo' is neither a folder nor a known repository" in ended.err
    assert "threestudio" in ended.err


@pytest.mark.parametrize("path", ["./nowhere", "some/where", "~nowhere"])
def test_missing_path_is_refused_as_a_path(rocm3d, tmp_path, path):
    ended = rocm3d("fit", path, "--gpu", "mi300x", cwd=tmp_path)

    assert ended.code == 2
    assert f"{path} does not exist" in ended.err


@pytest.mark.parametrize("word", ["", "x" * 5000])
def test_invalid_subject_is_refused(rocm3d, word):
    assert rocm3d("fit", word, "--gpu", "mi300x").code == 2


def test_file_is_refused_as_a_checkout(rocm3d, tmp_path):
    (tmp_path / "file.py").write_text("x = 1\n")
    ended = rocm3d("fit", "file.py", "--gpu", "mi300x", cwd=tmp_path)

    assert ended.code == 2
    assert "file.py is not a folder" in ended.err


@pytest.mark.parametrize("card", ["h10", "mi210", ""])
def test_unknown_nvidia_card_is_refused(rocm3d, card):
    ended = rocm3d("fit", "trellis", "--gpu", "mi300x", "--against", card)

    assert ended.code == 2
    assert f"unknown NVIDIA card '{card}'" in ended.err
    assert "hint: " in ended.err


def test_invalid_date_is_refused(rocm3d):
    assert rocm3d("fit", "point-e", "--gpu", "mi300x", "--as-of", "yesterday").code == 2


def test_earlier_date_and_card_cannot_be_combined(rocm3d):
    ended = rocm3d("fit", "point-e", "--gpu", "mi300x", "--as-of", "2025-10-17", "--against", "h100")

    assert ended.code == 2
    assert "--as-of and --against cannot be combined" in ended.err


def test_an_unknown_format_is_refused_before_any_work(rocm3d):
    ended = rocm3d("fit", "point-e", "--gpu", "mi300x", "--format", "sarif")

    assert ended.code == 2
    assert "use console, json or markdown" in ended.err


def test_the_console_explains_each_point(rocm3d):
    ended = rocm3d("fit", "threestudio", "--gpu", "rx 7900 xtx", "--as-of", "2025-10-17")

    assert "very poor" in ended.out
    assert "  -" in ended.out
    assert "[" in ended.out


def test_hunyuan_on_a_16_gb_card_lists_modes_that_do_not_fit(rocm3d):
    ended = rocm3d("fit", "hunyuan3d-2.1", "--gpu", "rx 9070 xt")

    assert ended.code == 0, ended.err
    for mode, word in (
        ("shape, 10 GB", "fits"),
        ("texture, 21 GB", "does not fit"),
        ("shape and texture, 29 GB", "does not"),
    ):
        assert f"  memory: {mode}: {word}" in ended.out
    assert (
        "  offload: does not fit in 16 GB: texture (21 GB), shape and texture (29 GB); fits: shape (10 GB)" in ended.out
    )


def test_model_by_name_compares_cards_without_dependencies(rocm3d):
    comparison = fit(rocm3d, "trellis", "--against", "h100", "--against", "RTX 4090", gpu="mi300x")["comparison"]

    assert [card["id"] for card in comparison["against"]] == ["h100", "rtx-4090"]
    assert comparison["dependencies"] is None
    assert "Pass the folder of a checkout" in comparison["conclusion"]
