from __future__ import annotations

import json

from rocm3d.cli.kb import KINDS


def test_a_wrong_overlay_is_refused_naming_file_and_key(rocm3d, tmp_path):
    (tmp_path / "families").mkdir()
    (tmp_path / "families" / "mine.toml").write_text('id = "mine"\ntitel = "x"\n')

    ended = rocm3d("kb", "check", "--knowledge", tmp_path)

    assert ended.code == 2
    assert "families/mine.toml: " in ended.err


def test_an_unknown_kind_is_refused(rocm3d):
    assert "packages" in rocm3d("kb", "query", "pakages").err


def test_a_problem_exits_1_and_is_one_line(rocm3d, tmp_path):
    (tmp_path / "families").mkdir()
    (tmp_path / "families" / "mine.toml").write_text(
        'id = "mine"\ntitle = "x"\nfails_by = "x"\ntry_first = "x"\nchecked = 2999-01-01\n'
        'confidence = "inferred"\nsources = [{ where = "somewhere" }]\n'
    )

    ended = rocm3d("kb", "check", "--knowledge", tmp_path)

    assert ended.code == 1
    assert "mine.toml: mine.checked: 2999-01-01 is later than the release" in ended.out


def test_the_shipped_records_are_valid(rocm3d):
    ended = rocm3d("kb", "check")

    assert (0, "") == (ended.code, ended.out)
    assert "0 problems" in ended.err


def test_stats_count_every_kind_with_planned_apart(rocm3d):
    lines = rocm3d("kb", "stats").out.splitlines()

    assert [line.split()[0] for line in lines[:-1]] == sorted(KINDS)
    assert all("active" in line and "planned" in line for line in lines[:-1])


def test_query_gives_records_that_hold_a_text(rocm3d):
    found = json.loads(rocm3d("kb", "query", "codes", "nvcc").out)

    assert "BLD101" in found
    assert "DEP101" not in found
