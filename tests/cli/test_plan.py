from __future__ import annotations

import json

import pytest

from rocm3d.model.base import SCHEMA_VERSION

VERSION = f'"schema_version": "{SCHEMA_VERSION}"'


def test_missing_gpu_is_refused(rocm3d, example):
    """Only on machines without an AMD GPU; with one, the plan is for that GPU."""
    ended = rocm3d("plan", example("deform-op"))

    assert (ended.code == 2 and "--gpu" in ended.err) or "GPU: " in ended.out


def test_a_misspelt_gpu_is_refused_with_the_nearest(rocm3d, example):
    ended = rocm3d("plan", example("deform-op"), "--gpu", "mi300y")

    assert ended.code == 2
    assert "mi300x" in ended.err


def test_an_unknown_stack_is_refused(rocm3d, example):
    ended = rocm3d("plan", example("deform-op"), "--gpu", "mi300x", "--stack", "rocm-1")

    assert ended.code == 2
    assert "unknown stack 'rocm-1'" in ended.err


def test_a_newer_inventory_is_refused_in_one_line(rocm3d, example, tmp_path):
    root = example("deform-op")
    rocm3d("scan", root, "--work", tmp_path)
    inventory = tmp_path / "inventory.json"
    inventory.write_text(inventory.read_text().replace(VERSION, '"schema_version": "1.99"'))

    ended = rocm3d("plan", root, "--gpu", "mi300x", "--from", inventory)

    assert ended.code == 2
    assert "schema 1.99" in ended.err
    assert "install rocm3d" in ended.err


def test_product_and_gfx_id_give_the_same_bytes(rocm3d, example):
    root = example("splat-trainer")

    by_product = rocm3d("plan", root, "--gpu", "AMD Instinct MI300X", "--format", "json")
    by_gfx = rocm3d("plan", root, "--gpu", "gfx942", "--format", "json")

    assert by_product.code == 0
    assert by_product.out == by_gfx.out


def test_every_dependency_has_a_decision_with_reason_and_alternatives(rocm3d, example):
    plan = json.loads(rocm3d("plan", example("splat-trainer"), "--gpu", "mi300x", "--format", "json").out)

    decisions = {item["name"]: item for item in plan["decisions"]}
    assert {"torch", "torchvision", "xformers", "gsplat", "flash-attn", "spconv-cu120"} <= set(decisions)
    assert {"numpy", "tqdm", "plyfile", "torchmetrics"} == {n for n, d in decisions.items() if d["decision"] == "keep"}
    for item in decisions.values():
        assert item["reason"]
        assert {"name", "decision", "route", "reason", "sources", "verified_on", "alternatives"} <= set(item)
    assert decisions["gsplat"]["alternatives"]
    assert all(other["reason"] for other in decisions["gsplat"]["alternatives"])
    assert plan["rejected_stacks"]


def test_gpu_of_the_settings_is_used(rocm3d, example):
    root = example("deform-op")
    (root / "rocm3d.toml").write_text('gpu = "gfx1100"\n')

    plan = json.loads(rocm3d("plan", root, "--format", "json").out)

    assert plan["gpu"]["gfx"] == "gfx1100"


def test_markdown_and_no_sarif(rocm3d, example):
    root = example("splat-trainer")

    page = rocm3d("plan", root, "--gpu", "mi300x", "--format", "markdown")
    refused = rocm3d("plan", root, "--gpu", "mi300x", "--format", "sarif")

    assert page.code == 0
    assert page.out.startswith("# Plan for splat-trainer on ")
    assert refused.code == 2
    assert "use console, json or markdown" in refused.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rocm", "newest"), "not a release or a range"),
        (("--keep-torch", "--python", "/nobody"), "no such file"),
    ],
)
def test_invalid_options_are_refused(rocm3d, example, options, message):
    ended = rocm3d("plan", example("deform-op"), "--gpu", "mi300x", *options)

    assert ended.code == 2
    assert message in ended.err


def test_keep_torch_without_an_installed_torch_is_refused(rocm3d, example, monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    ended = rocm3d("plan", example("deform-op"), "--gpu", "mi300x", "--keep-torch")

    assert ended.code == 4
    assert "--python" in ended.err


def test_no_stack_has_a_reason(rocm3d, example):
    ended = rocm3d("plan", example("deform-op"), "--gpu", "mi300x", "--platform", "windows")

    assert ended.code == 1
    assert "stack: none for windows. Reason for each:" in ended.out
    assert "does not support gfx942" in ended.out


def test_only_stacks_of_the_requested_rocm(rocm3d, example):
    plan = json.loads(rocm3d("plan", example("deform-op"), "--gpu", "mi300x", "--rocm", "6.4", "--format", "json").out)

    assert plan["base"]["rocm"].startswith("6.4")
    assert all(item["would_need"] for item in plan["rejected_stacks"])


def test_licence_policy_refuses(rocm3d, tmp_path):
    (tmp_path / "requirements.txt").write_text("nvdiffrast\n")

    listed = rocm3d("plan", tmp_path, "--gpu", "mi300x")
    refused = rocm3d("plan", tmp_path, "--gpu", "mi300x", "--licence-policy", "refuse")
    (tmp_path / "rocm3d.toml").write_text('licence-policy = "refuse"\n')
    port = rocm3d("port", tmp_path, "--gpu", "mi300x")

    assert listed.code == 0
    assert "licence: nvdiffrast is under NVIDIA Source Code License" in listed.out
    assert (refused.code, port.code) == (1, 1)
    assert "refused by the licence policy: nvdiffrast" in refused.err
    assert not (tmp_path / "rocm-port").exists()


def test_hidden_findings_get_no_edit_and_do_not_improve_the_plan(rocm3d, example):
    root = example("splat-trainer")
    expected = json.loads(rocm3d("plan", root, "--gpu", "mi300x", "--format", "json").out)
    (root / "rocm3d.toml").write_text('skip = ["CU", "BLD", "DEP", "PY"]\n')

    ended = rocm3d("plan", root, "--gpu", "mi300x")
    hidden = json.loads(rocm3d("plan", root, "--gpu", "mi300x", "--format", "json").out)
    isolated = json.loads(rocm3d("plan", root, "--gpu", "mi300x", "--isolated", "--format", "json").out)

    assert "findings hidden by settings in rocm3d.toml (skip = CU, BLD, DEP, PY): " in ended.err
    assert (hidden["edits"], hidden["left"]) == ([], [])
    assert (hidden["readiness"], hidden["decisions"]) == (expected["readiness"], expected["decisions"])
    assert isolated == expected


def test_gpu_and_licence_policy_of_the_settings_name_their_file(rocm3d, example):
    root = example("deform-op")
    (root / "pyproject.toml").write_text('[tool.rocm3d]\ngpu = "gfx1100"\nlicence-policy = "refuse"\n')

    ended = rocm3d("plan", root)
    chosen = rocm3d("plan", root, "--gpu", "mi300x", "--licence-policy", "report")

    assert ", set in pyproject.toml, [tool.rocm3d]; choose another with --gpu" in ended.err
    assert "licence policy: refuse, set in pyproject.toml, [tool.rocm3d]; choose another with" in ended.err
    assert "set in" not in chosen.err
    assert "--gpu" in rocm3d("plan", root, "--isolated").err


def test_settings_cannot_weaken_the_licence_policy_of_the_user(rocm3d, tmp_path):
    (tmp_path / "requirements.txt").write_text("nvdiffrast\n")
    (tmp_path / "rocm3d.toml").write_text('licence-policy = "report"\n')

    assert rocm3d("plan", tmp_path, "--gpu", "mi300x", "--licence-policy", "refuse").code == 1
