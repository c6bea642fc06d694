from __future__ import annotations

import json

import pytest


def test_an_unknown_rule_is_refused_with_the_nearest(rocm3d, example):
    ended = rocm3d("scan", example("deform-op"), "--only", "spaced_lunch")

    assert ended.code == 2
    assert "did you mean spaced_launch?" in ended.err


def test_an_unknown_format_is_refused(rocm3d, example):
    ended = rocm3d("scan", example("deform-op"), "--format", "yaml")

    assert ended.code == 2
    assert ended.err == (
        "rocm3d: --format yaml is not supported here\n  hint: use console, json, sarif, markdown or html\n"
    )


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"schema_version": "1.99"}'])
def test_baseline_that_is_not_an_inventory_is_refused(rocm3d, example, tmp_path, text):
    (tmp_path / "old.json").write_text(text)

    ended = rocm3d("scan", example("deform-op"), "--baseline", tmp_path / "old.json")

    assert (2, "") == (ended.code, ended.out)
    assert "old.json" in ended.err


def test_missing_baseline_is_refused(rocm3d, example, tmp_path):
    ended = rocm3d("scan", example("deform-op"), "--baseline", tmp_path / "none.json")

    assert ended.code == 2
    assert "--baseline" in ended.err


def test_an_inventory_made_with_a_baseline_is_neither_a_baseline_nor_a_source(rocm3d, example, tmp_path):
    root = example("deform-op")
    rocm3d("scan", root)
    new = tmp_path / "new.json"
    rocm3d("scan", root, "--baseline", root / ".rocm3d" / "inventory.json", "--format", "json", "-o", new)

    for arguments in (("scan", root, "--baseline", new), ("plan", root, "--gpu", "mi300x", "--from", new)):
        ended = rocm3d(*arguments)
        assert ended.code == 2
        assert "was made with --baseline and omits" in ended.err


def test_a_portable_repository_exits_0_without_a_finding(rocm3d, example):
    ended = rocm3d("scan", example("already-portable"))

    assert (0, "") == (ended.code, ended.out)
    assert "readiness: ready" in ended.err


def test_findings_exit_1_one_line_and_one_hint_each(rocm3d, example):
    ended = rocm3d("scan", example("cpu-only-gate"), "--only", "cuda_home_gate")

    assert ended.code == 1
    line = "setup.py:7:4: BLD201 cuda_home_gate: the build depends on `CUDA_HOME is not None`; "
    hint = "  hint: let the gate accept ROCm too: `or torch.version.hip is not None`"
    assert ended.out.splitlines() == [f"{line}under a ROCm torch CUDA_HOME is None", hint]


def test_json_is_one_object_with_the_keys_of_the_contract(rocm3d, example):
    document = json.loads(rocm3d("scan", example("deform-op"), "--format", "json").out)

    assert {"schema_version", "inventory", "findings"} <= set(document)
    assert set(document["findings"][0]) == {
        "code", "rule", "severity", "path", "line", "column", "message", "hint", "family", "package", "recipe",
    }  # fmt: skip


def test_only_and_skip_accept_comma_lists(rocm3d, example):
    root = example("splat-trainer")

    def codes(*words: str) -> set[str]:
        return {item["code"][:2] for item in json.loads(rocm3d("scan", root, *words, "--format=json").out)["findings"]}

    assert codes("--only", "CU,PY") == codes("--only", "CU", "--only", "PY") == codes("--skip", "DEP, BLD")
    assert rocm3d("scan", root, "--only", "CU,").code == 2


def test_only_and_skip_accept_code_prefixes(rocm3d, example):
    root = example("splat-trainer")

    only = json.loads(rocm3d("scan", root, "--only", "CU", "--format", "json").out)["findings"]
    skip = json.loads(rocm3d("scan", root, "--skip", "CU", "--format", "json").out)["findings"]

    assert {item["code"][:2] for item in only} == {"CU"}
    assert skip
    assert not [item for item in skip if item["code"].startswith("CU")]


def test_command_line_overrides_the_settings(rocm3d, example):
    root = example("splat-trainer")
    (root / "pyproject.toml").write_text('[tool.rocm3d]\nonly = ["BLD"]\n')

    held = json.loads(rocm3d("scan", root, "--format", "json").out)["findings"]
    won = json.loads(rocm3d("scan", root, "--only", "PY", "--format", "json").out)["findings"]

    assert {item["code"][:3] for item in held} == {"BLD"}
    assert {item["code"][:2] for item in won} == {"PY"}


def test_output_goes_to_a_file_and_documents_to_the_work_folder(rocm3d, example, tmp_path):
    root = example("deform-op")

    ended = rocm3d("scan", root, "-o", tmp_path / "out.txt", "--work", tmp_path / "work", "--quiet")

    assert (1, "", "") == (ended.code, ended.out, ended.err)
    assert "CU101" in (tmp_path / "out.txt").read_text()
    assert (tmp_path / "work" / "inventory.json").is_file()
    assert not (root / ".rocm3d").exists()


def test_the_state_folder_hides_itself_from_git_and_from_scans(rocm3d, example):
    root = example("deform-op")

    first = rocm3d("scan", root, "--format", "json").out
    second = rocm3d("scan", root, "--format", "json").out

    assert (root / ".rocm3d" / ".gitignore").read_text() == "*\n"
    assert first == second


def test_second_scan_uses_the_cache_and_has_the_same_output(rocm3d, example, tmp_path):
    root, env = example("splat-trainer"), {"ROCM3D_CACHE": str(tmp_path / "cache")}

    first = rocm3d("scan", root, "--format", "json", env=env)
    second = rocm3d("scan", root, "--format", "json", env=env)
    without = rocm3d("scan", root, "--format", "json", "--no-cache", env={"ROCM3D_CACHE": str(tmp_path / "other")})

    assert (tmp_path / "cache" / "scan.sqlite").is_file()
    assert not (tmp_path / "other" / "scan.sqlite").exists()
    assert first.out == second.out == without.out


def test_against_its_own_inventory_nothing_is_new(rocm3d, example):
    root = example("splat-trainer")
    first = json.loads(rocm3d("scan", root, "--format", "json").out)

    again = rocm3d("scan", root, "--baseline", root / ".rocm3d" / "inventory.json")

    assert (0, "") == (again.code, again.out)
    assert f"{len(first['findings'])} known findings of the baseline hidden" in again.err
    assert json.loads((root / ".rocm3d" / "inventory.json").read_text()) == first


def test_with_a_baseline_moved_lines_are_known_and_new_findings_decide(rocm3d, example, tmp_path):
    root, baseline = example("deform-op"), tmp_path / "old.json"
    rocm3d("scan", root, "--format", "json", "-o", baseline)
    kernel = root / "src" / "sample_kernel.cu"
    kernel.write_text("\n\n" + kernel.read_text())

    moved = rocm3d("scan", root, "--baseline", baseline)
    (root / "src" / "new.cu").write_text("#include <device_launch_parameters.h>\n")
    added = rocm3d("scan", root, "--baseline", baseline, "--format", "json")

    assert (0, "") == (moved.code, moved.out)
    assert added.code == 1
    assert [item["path"] for item in json.loads(added.out)["findings"]] == ["src/new.cu"]
    assert json.loads(added.out)["known"] == len(json.loads(baseline.read_text())["findings"])


def test_sarif_has_the_findings_of_json(rocm3d, example):
    root = example("deform-op")

    log = json.loads(rocm3d("scan", root, "--format", "sarif").out)
    findings = json.loads(rocm3d("scan", root, "--format", "json").out)["findings"]

    assert [item["ruleId"] for item in log["runs"][0]["results"]] == [item["code"] for item in findings]


def test_markdown_and_html(rocm3d, example):
    root = example("deform-op")

    assert rocm3d("scan", root, "--format", "markdown").out.startswith("# Scan of deform-op\n")
    assert rocm3d("scan", root, "--format", "html").out.startswith("<!doctype html>\n")


SILENCED = 'skip = ["CU", "BLD", "DEP", "PY"]\n'


def test_settings_that_hide_every_finding_are_named_with_their_count(rocm3d, example):
    root = example("splat-trainer")
    isolated = json.loads(rocm3d("scan", root, "--format", "json").out)
    (root / "rocm3d.toml").write_text(SILENCED)

    ended = rocm3d("scan", root)

    count = len(isolated["findings"])
    assert f"{count} findings hidden by settings in rocm3d.toml (skip = CU, BLD, DEP, PY): " in ended.err
    assert "; show them: --isolated" in ended.err
    assert f"readiness: {isolated['inventory']['readiness']} " in ended.err
    assert isolated["inventory"]["readiness"] != "ready"
    for form in ("markdown", "html"):
        assert f"{count} findings hidden by settings in " in rocm3d("scan", root, "--format", form).out


@pytest.mark.parametrize("settings", [SILENCED, 'only = ["PY9', "unknown = 1\n"])
def test_isolated_scan_is_that_without_the_settings(rocm3d, example, settings):
    root = example("splat-trainer")
    expected = json.loads(rocm3d("scan", root, "--format", "json").out)
    (root / "rocm3d.toml").write_text(settings)

    shown = json.loads(rocm3d("scan", root, "--isolated", "--format", "json").out)

    assert shown["findings"] == expected["findings"]
    assert (shown["hidden"], shown["inventory"]["readiness"]) == ([], expected["inventory"]["readiness"])


def test_isolated_shows_what_comments_hide(rocm3d, tmp_path):
    (tmp_path / "a.cu").write_text("void f() { k<< <1, 1>> >(); }  // rocm3d: ignore[spaced_launch]\n")

    ended, isolated = rocm3d("scan", tmp_path), rocm3d("scan", tmp_path, "--isolated")

    assert (ended.code, isolated.code) == (0, 1)
    assert "1 finding hidden by comments (rocm3d: ignore[...]): 1 error; show them: --isolated" in ended.err
    assert "readiness: needs-edits" in ended.err
    assert "a.cu:1:13: CU301" in isolated.out


def test_rules_of_the_command_line_are_shown(rocm3d, example):
    ended = rocm3d("scan", example("splat-trainer"), "--only", "CU", "--skip", "CU301")

    assert "selected by the command line: --only CU --skip CU301; the other rules did not run" in ended.err
    assert "hidden" not in ended.err


def test_sarif_marks_hidden_findings_as_suppressed(rocm3d, tmp_path):
    (tmp_path / "a.cu").write_text("void f() { k<< <1, 1>> >(); }  // rocm3d: ignore[spaced_launch]\n")
    (tmp_path / "requirements.txt").write_text("gsplat\nnumpy\n")
    (tmp_path / "rocm3d.toml").write_text('skip = ["DEP"]\n')

    (run,) = json.loads(rocm3d("scan", tmp_path, "--format", "sarif").out)["runs"]

    kinds = {result["ruleId"]: [entry["kind"] for entry in result["suppressions"]] for result in run["results"]}
    assert kinds == {"CU301": ["inSource"], "DEP201": ["external"]}
