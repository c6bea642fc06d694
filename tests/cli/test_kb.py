from __future__ import annotations

import json
import re
import shutil

from rocm3d.cli.kb import KINDS
from rocm3d.knowledge.load import data_folder


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
    assert "problems: 0" in ended.err


def test_stats_count_active_and_planned_records(rocm3d):
    lines = rocm3d("kb", "stats").out.splitlines()

    assert [line.split()[0] for line in lines[:-1]] == sorted(KINDS)
    assert all("active" in line and "planned" in line for line in lines[:-1])


def test_query_shows_records_that_contain_a_text(rocm3d):
    result = json.loads(rocm3d("kb", "query", "codes", "nvcc").out)

    assert "BLD101" in result
    assert "DEP101" not in result


def test_active_recipe_with_a_failing_example_is_a_problem(rocm3d, tmp_path):
    path = tmp_path / "rules" / "cuda" / "missing_header"
    shutil.copytree(data_folder() / "rules" / "cuda" / path.name, path)
    (path / "cases" / "after.cu").write_text("int something_else;\n")

    ended = rocm3d("kb", "check", "--knowledge", tmp_path)

    assert ended.code == 1
    assert f"{path.name}/rule.toml: before: the output of guard_include differs from the example" in ended.out


def test_a_fact_without_a_source_and_a_route_without_proof_are_refused_by_key(rocm3d, tmp_path):
    original = (data_folder() / "packages" / "gsplat.toml").read_text(encoding="utf-8")
    (tmp_path / "packages").mkdir()
    record = tmp_path / "packages" / "gsplat.toml"

    record.write_text(re.sub(r"(?m)^proof = .*$", "", original), encoding="utf-8")
    unproven = rocm3d("kb", "check", "--knowledge", tmp_path)
    record.write_text(re.sub(r"(?ms)^sources = \[.*?^\]$", "", original, count=1), encoding="utf-8")
    unsourced = rocm3d("kb", "check", "--knowledge", tmp_path)

    assert (2, 2) == (unproven.code, unsourced.code)
    assert "packages/gsplat.toml: routes.0: " in unproven.err
    assert "needs `proof`" in unproven.err
    assert "packages/gsplat.toml: sources: " in unsourced.err
