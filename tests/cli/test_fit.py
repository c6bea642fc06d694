from __future__ import annotations

import json

import pytest

# The table of the workstation essay of 2025-10-17, for one RX 7900 XTX.
THEN = {
    "point-e": "High",
    "threestudio": "Very Low",
    "stable-zero123": "Very Low",
    "dreamgaussian": "High",
    "stable-dreamfusion": "Medium",
    "hyper3d": "Not viable",
    "hunyuan3d-2": "Medium-Low",
    "instantmesh": "Low",
}


def fit(rocm3d, model, *options):
    ended = rocm3d("fit", model, "--gpu", "rx 7900 xtx", "--format", "json", *options)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_an_unknown_model_gives_the_nearest(rocm3d):
    ended = rocm3d("fit", "threestudo", "--gpu", "mi300x")

    assert ended.code == 2
    assert "threestudio" in ended.err


def test_a_date_that_is_none_is_refused(rocm3d):
    assert rocm3d("fit", "point-e", "--gpu", "mi300x", "--as-of", "yesterday").code == 2


@pytest.mark.parametrize(("model", "viability"), THEN.items())
def test_the_table_of_2025_10_17_comes_out_again(rocm3d, model, viability):
    assert fit(rocm3d, model, "--as-of", "2025-10-17")["viability"] == viability


def test_today_shows_what_changed_and_why(rocm3d):
    then, now = fit(rocm3d, "threestudio", "--as-of", "2025-10-17"), fit(rocm3d, "threestudio", "--as-of", "2026-11-15")

    assert now["closed"]
    assert now["score"] > then["score"]
    assert all(point["why"] and point["source"] for point in (*now["points"], *now["closed"]))


def test_the_console_explains_each_point(rocm3d):
    ended = rocm3d("fit", "threestudio", "--gpu", "rx 7900 xtx", "--as-of", "2025-10-17")

    assert "Very Low" in ended.out
    assert "  -" in ended.out
    assert "[" in ended.out
