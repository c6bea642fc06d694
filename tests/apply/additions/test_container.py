from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from rocm3d.apply.additions.container import render
from rocm3d.workspace.tree import Tree

HADOLINT = Path(sys.executable).parent / "hadolint"


def rendered(tmp_path, plan, folder: str = "rocm-port") -> dict[str, str]:
    return {name: data.decode() for name, data in render(plan, Tree.open(tmp_path), folder).items()}


@pytest.mark.parametrize("more", [{"image": ""}, {"image": "a b"}, {"image": "x\nRUN evil"}])
def test_no_container_without_a_valid_image(tmp_path, make_plan, make_stack, more):
    assert rendered(tmp_path, make_plan(base=make_stack(**more))) == {}


def test_no_container_without_a_base_or_linux(tmp_path, make_plan, make_stack):
    assert rendered(tmp_path, make_plan()) == {}
    assert rendered(tmp_path, make_plan(base=make_stack(), platform="wsl")) == {}


def test_the_container_gets_the_gpu_and_nothing_more(tmp_path, make_plan, make_stack):
    service = YAML(typ="safe").load(rendered(tmp_path, make_plan(base=make_stack()))["compose.yaml"])["services"][
        "port"
    ]
    assert service["devices"] == ["/dev/kfd:/dev/kfd", "/dev/dri:/dev/dri"]
    assert service["group_add"] == ["${RENDER_GID:?is not set, see the top of this file}"]
    assert service["shm_size"] == "${SHM_SIZE:-16gb}"
    assert service["environment"]["PYTORCH_ROCM_ARCH"] == "gfx942"
    assert not {"privileged", "network_mode", "cap_add", "security_opt", "pid", "ipc"} & set(service)


def test_paths_follow_the_folder(tmp_path, make_plan, make_stack):
    result = rendered(tmp_path, make_plan(base=make_stack()), "a/b c")
    service = YAML(typ="safe").load(result["compose.yaml"])["services"]["port"]
    assert service["build"] == {"context": "../..", "dockerfile": "a/b c/Dockerfile"}
    assert 'RUN ["bash", "a/b c/install.sh"]' in result["Dockerfile"]


def test_the_target_is_set_before_the_install(tmp_path, make_plan, make_stack):
    lines = rendered(tmp_path, make_plan(base=make_stack()))["Dockerfile"].splitlines()
    assert "FROM rocm/pytorch:tag" in lines
    assert lines.index('ENV PYTORCH_ROCM_ARCH="gfx942"') < lines.index('RUN ["bash", "rocm-port/install.sh"]')


def test_base_of_wheels_gets_a_virtual_environment(tmp_path, make_plan, make_stack):
    assert "venv" in rendered(tmp_path, make_plan(base=make_stack(form="pip")))["Dockerfile"]
    assert "venv" not in rendered(tmp_path, make_plan(base=make_stack()))["Dockerfile"]


def test_variables_on_which_routes_disagree_are_left_to_the_builds(tmp_path, make_plan, make_stack, make_decision):
    decisions = (make_decision("a", env={"X": "1", "Y": "$HOME"}), make_decision("b", env={"X": "2"}))
    result = rendered(tmp_path, make_plan(base=make_stack(), decisions=decisions))
    assert "ENV X" not in result["Dockerfile"]
    assert 'ENV Y="\\$HOME"' in result["Dockerfile"]
    assert 'Y: "$$HOME"' in result["compose.yaml"]


def test_dockerignore_of_the_repository_is_kept_first(tmp_path, make_plan, make_stack):
    (tmp_path / ".dockerignore").write_text("*\n!src")
    lines = rendered(tmp_path, make_plan(base=make_stack()))["Dockerfile.dockerignore"].splitlines()
    assert lines[:2] == ["*", "!src"]
    assert lines[-1] == "!rocm-port"
    assert ".rocm3d" in lines


NASTY = ["a b", "$(touch pwned)", "it's", '"', "x\ny", "a\\b", "a=b", "{{ 1 }}"]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("form", ["container", "pip"])
def test_hadolint_accepts_any_plan(tmp_path, make_plan, make_stack, make_decision, form, text):
    plan = make_plan(base=make_stack(form=form), decisions=(make_decision("a", env={"A": text}, reason=text),))
    path = tmp_path / "Dockerfile"
    path.write_text(rendered(tmp_path, plan)["Dockerfile"])
    ended = subprocess.run([HADOLINT, "--no-color", path], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_hadolint_accepts_every_known_stack(tmp_path, knowledge, make_plan):
    places = []
    for stack in knowledge.stacks.values():
        if "linux" in stack.platforms:
            places.append(tmp_path / f"{stack.id}.Dockerfile")
            places[-1].write_text(rendered(tmp_path, make_plan(base=stack))["Dockerfile"])
    assert len(places) > 10
    ended = subprocess.run([HADOLINT, "--no-color", *places], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")
