from __future__ import annotations

import json

import pytest


def test_misspelt_name_suggests_the_closest(rocm3d):
    ended = rocm3d("explain", "gspalt")

    assert ended.code == 2
    assert "gsplat" in ended.err


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("CU101", "64-bit"),
        ("lane_mask_32bit", "CU101"),
        ("gsplat", "route"),
        ("flash_attn", "flash-attn"),
        ("mi300x", "gfx942"),
        ("gfx1100", "waves of 32 lanes"),
        ("native-op", "try first"),
        ("toolkit-header-guarded", "guard_include"),
    ],
)
def test_record_is_shown_with_source_and_date(rocm3d, word, expected):
    ended = rocm3d("explain", word)

    assert ended.code == 0, ended.err
    assert expected in ended.out
    assert "source: " in ended.out
    assert "checked 20" in ended.out


def test_json_is_the_record(rocm3d):
    assert json.loads(rocm3d("explain", "gfx942", "--format", "json").out)["wave_size"] == 64
