"""install.sh, run in a temporary environment with a stub of torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocm3d.apply.additions.install import render
from rocm3d.workspace.tree import Tree

pytestmark = pytest.mark.engines
SHELLCHECK = Path(sys.executable).parent / "shellcheck"
TORCH = "2.6.0+rocm6.4.3"


def requirements(machine, text: str) -> None:
    (machine.root / "requirements.txt").write_text(text)


def is_untouched(machine) -> bool:
    result = machine.versions()
    return result["torch"] == TORCH and result["pytorch-triton-rocm"] == "3.2.0" and "triton" not in result


# Refusals.


def test_an_unknown_argument_is_wrong_usage(machine, make_plan):
    machine.render(make_plan())
    ended = machine.install("--force")
    assert ended.returncode == 2
    assert "unknown argument --force" in ended.stderr


def test_missing_torch_prints_a_hint(machine, make_plan, make_stack):
    machine.pip("uninstall", "-y", "torch")
    machine.render(make_plan(base=make_stack()))
    ended = machine.install()
    assert ended.returncode == 1
    assert "has no torch" in ended.stderr
    assert "run this inside the image rocm/pytorch:tag" in ended.stderr


def test_a_torch_that_is_no_rocm_build_is_refused(machine, make_plan, make_stack, make_torch, tmp_path):
    machine.pip("install", "--no-index", "--force-reinstall", str(make_torch(tmp_path / "other", "2.6.0", None)))
    machine.render(make_plan(base=make_stack()))
    ended = machine.install()
    assert ended.returncode == 1
    assert "is not a ROCm build" in ended.stderr


def test_another_release_of_torch_is_refused(machine, make_plan, make_stack):
    machine.render(make_plan(base=make_stack(torch="2.60.0")))
    ended = machine.install()
    assert ended.returncode == 1
    assert "the plan is for torch 2.60" in ended.stderr
    assert "--keep-torch" in ended.stderr


def test_requirement_of_another_torch_fails_and_names_its_step(machine, make_plan, make_stack, make_wheel, make_torch):
    """The other torch lies ready in the index: only the constraint keeps it out."""
    make_wheel(machine.wheels, "poisoned", "1.0", "torch==9.9")
    make_torch(machine.wheels, "9.9", None)
    requirements(machine, "tqdm\npoisoned\n")
    machine.render(make_plan(base=make_stack()))
    ended = machine.install()
    assert ended.returncode == 1
    assert "step 1 of 1 (requirements of the repository) failed" in ended.stderr
    assert "poisoned 1.0 depends on torch==9.9" in ended.stderr
    assert is_untouched(machine)
    assert "tqdm" not in machine.versions()


@pytest.mark.parametrize("name", ["triton", "torchaudio"])
def test_no_dependency_installs_another_triton_or_a_missing_base_package(
    machine, make_plan, make_stack, make_wheel, name
):
    make_wheel(machine.wheels, "poisoned", "1.0", f"{name}>=2")
    make_wheel(machine.wheels, name, "3.9.0")
    requirements(machine, "poisoned\n")
    machine.render(make_plan(base=make_stack()))
    ended = machine.install()
    assert ended.returncode == 1
    assert f"poisoned 1.0 depends on {name}>=2" in ended.stderr
    assert is_untouched(machine)


def test_a_build_that_changes_torch_behind_pip_is_named(machine, make_plan, make_stack, make_project, make_decision):
    """pip sees nothing of it: only the look afterwards does."""
    output = "import glob, sys\n    open(glob.glob(sys.prefix + '/lib/*/site-packages/torch/version.py')[0], 'w')"
    make_project(machine.root / "libs" / "evil", "evil", build='"torch"', extra=output + ".write('hip = None')")
    make_project(machine.root / "libs" / "later", "later")
    commands = [("pip", "install", "--no-build-isolation", "--no-deps", f"./libs/{name}") for name in ("evil", "later")]
    decisions = tuple(
        make_decision(name, "build", commands=(command,))
        for name, command in zip(("evil", "later"), commands, strict=True)
    )
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install()
    assert ended.returncode == 1
    assert "step 2 of 3 (evil, built) changed a protected package: HIP: 6.4.43484 became none" in ended.stderr
    assert "to recover: start again from the image rocm/pytorch:tag" in ended.stderr
    assert "later" not in machine.versions()


def test_a_cuda_package_that_a_dependency_brings_is_named(machine, make_plan, make_stack, make_wheel):
    make_wheel(machine.wheels, "innocent", "1.0", "nvidia-cublas-cu12")
    make_wheel(machine.wheels, "nvidia-cublas-cu12", "12.1")
    requirements(machine, "innocent\n")
    machine.render(make_plan(base=make_stack()))
    ended = machine.install()
    assert ended.returncode == 1
    assert "CUDA packages: none became nvidia-cublas-cu12" in ended.stderr


def test_an_isolated_build_cannot_be_made_for_another_torch(machine, make_plan, make_stack, make_project, make_torch):
    make_torch(machine.wheels, "9.9", None)
    source = make_project(machine.root.parent / "native-1.0", "native", build='"torch"')
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: native\nVersion: 1.0\n")
    subprocess.run(["tar", "-czf", machine.wheels / "native-1.0.tar.gz", "-C", source.parent, source.name], check=True)
    requirements(machine, "native\n")
    machine.render(make_plan(base=make_stack()))
    ended = machine.install()
    assert ended.returncode == 1
    assert "torch" in ended.stderr.split("are unchanged")[1]
    assert is_untouched(machine)


def test_missing_submodule_is_named(machine, make_plan, make_stack, make_decision):
    (machine.root / ".gitmodules").write_text('[submodule "x"]\n\tpath = libs/x\n\turl = https://host/x.git\n')
    command = ("pip", "install", "--no-build-isolation", "--no-deps", "./libs/x")
    machine.render(make_plan(base=make_stack(), decisions=(make_decision("x", "build", commands=(command,)),)))
    ended = machine.install()
    assert ended.returncode == 1
    assert "libs/x is missing or empty" in ended.stderr


def test_a_patch_for_another_commit_is_refused(machine, make_plan, make_stack, make_project, make_clone, tmp_path):
    address, commit = make_clone(make_project(tmp_path / "away" / "dep", "dep"))
    requirements(machine, f"git+{address}@{commit}\n")
    machine.render(make_plan(base=make_stack()))
    (machine.root / "rocm-port" / "patches").mkdir()
    (machine.root / "rocm-port" / "patches" / f"dep@{'0' * 40}.patch").write_text("")
    ended = machine.install()
    assert ended.returncode == 1
    assert f"is not for commit {commit} of dep" in ended.stderr
    assert "dep" not in machine.versions()


# What is done.


def test_clean_install_finishes_from_any_folder_and_again(machine, make_plan, make_stack, make_decision):
    requirements(machine, "torch==2.1.0+cu118\nnumpy\n--extra-index-url https://host/cu118\n")
    result = {"code": "X1", "rule": "x", "severity": "error", "path": "requirements.txt", "line": 3, "column": 1}
    plan = make_plan(
        base=make_stack(), decisions=(make_decision("torch"),), answered=({**result, "message": "m", "hint": "h"},)
    )
    machine.render(plan, "elsewhere")
    first = machine.install(folder="elsewhere", cwd=Path("/"))
    second = machine.install(folder="elsewhere", cwd=machine.root, PYTHON="../an environment/bin/python")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "Successfully installed numpy-1.0" in first.stdout
    assert "already satisfied: numpy" in second.stdout
    assert "== done; torch: torch==2.6.0+rocm6.4.3, unchanged" in second.stdout
    assert is_untouched(machine)
    assert (machine.root / ".rocm3d" / ".gitignore").read_text() == "*\n"


def test_dry_run_prints_every_step_and_runs_nothing(machine, make_plan, make_stack, make_decision, snapshot):
    requirements(machine, "numpy\ngit+https://host/dep.git@v1#subdirectory=part\n")
    commands = (("pip", "install", "--no-deps", "--index-url", "https://host/simple/", "made-for-rocm"),)
    decisions = (make_decision("made", "replace", commands=commands, requirement="made-for-rocm"),)
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    before, listed = snapshot(machine.root), machine.versions()
    ended = machine.install("--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("== step") == 4
    assert "--index-url https://host/simple/ made-for-rocm" in ended.stdout
    assert "git clone --quiet --filter=blob:none -- https://host/dep.git" in ended.stdout
    assert (snapshot(machine.root), machine.versions()) == (before, listed)
    assert not (machine.root / ".rocm3d").exists()


def test_versions_that_a_route_needs_constrain_other_packages(
    machine, make_plan, make_stack, make_decision, make_wheel
):
    make_wheel(machine.wheels, "numpy", "2.1")
    requirements(machine, "numpy\n")
    decisions = (make_decision("old", "drop", needs={"numpy": "<2"}),)
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install()
    assert ended.returncode == 0, ended.stderr
    assert machine.versions()["numpy"] == "1.0"


def simple_index(folder: Path, *wheels: Path) -> str:
    for path in wheels:
        page = folder / path.name.split("-")[0].replace("_", "-") / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f'<a href="{path.as_uri()}">{path.name}</a>')
    return folder.as_uri()


def test_an_explicit_index_is_the_only_one_used(machine, make_plan, make_stack, make_decision, make_wheel):
    """A newer package of the same name lies in every other place that pip is told of."""
    tmp = machine.root.parent
    make_wheel(machine.wheels, "made-for-rocm", "9.0")
    index = simple_index(tmp / "index", make_wheel(tmp / "rocm", "made-for-rocm", "1.0"))
    other = simple_index(tmp / "other", make_wheel(tmp / "else", "made-for-rocm", "8.0"))
    (tmp / "pip.conf").write_text(f"[global]\nextra-index-url = {other}\n")
    commands = (("pip", "install", "--no-deps", "--index-url", index, "made-for-rocm"),)
    decisions = (make_decision("made", "replace", commands=commands, requirement="made-for-rocm"),)
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install(PIP_CONFIG_FILE=str(tmp / "pip.conf"), PIP_EXTRA_INDEX_URL=other)
    assert ended.returncode == 0, ended.stderr
    assert machine.versions()["made-for-rocm"] == "1.0"


def test_a_base_of_wheels_is_installed_first_where_it_is_missing(
    machine, make_plan, make_stack, make_wheel, make_torch
):
    tmp = machine.root.parent
    machine.pip("uninstall", "-y", "torch", "torchvision")
    make_torch(machine.wheels, "9.9", None)
    places = (make_torch(tmp / "rocm", "2.6.0+rocm9.9"), make_wheel(tmp / "rocm", "torchvision", "0.21.0+rocm9.9"))
    stack = make_stack(form="pip", index=simple_index(tmp / "index", *places))
    requirements(machine, "numpy\n")
    machine.render(make_plan(base={**stack, "requirements": ["torch[device-{gfx}]==2.6.0+rocm9.9", "torchvision"]}))
    ended = machine.install()
    assert ended.returncode == 0, ended.stderr
    result = machine.versions()
    assert (result["torch"], result["torchvision"], result["numpy"]) == ("2.6.0+rocm9.9", "0.21.0+rocm9.9", "1.0")
    again = machine.install()
    assert (again.returncode, again.stdout.count("Collecting")) == (0, 0), again.stderr


PATCH = """--- a/note.txt
+++ b/note.txt
@@ -1 +1 @@
-before
+after
"""


def test_a_git_dependency_is_cloned_at_its_commit_patched_and_built_once(
    machine, make_plan, make_stack, make_project, make_clone, tmp_path
):
    source = make_project(
        tmp_path / "away" / "dep", "dep", build='"torch"', extra="assert open('note.txt').read() == 'after\\n'"
    )
    (source / "note.txt").write_text("before\n")
    address, commit = make_clone(source)
    (source / "note.txt").write_text("newer\n")
    make_clone(source)
    requirements(machine, f"numpy\ndep @ git+{address}@{commit}\n")
    machine.render(make_plan(base=make_stack()))
    (machine.root / "rocm-port" / "patches").mkdir()
    (machine.root / "rocm-port" / "patches" / f"dep@{commit[:12]}.patch").write_text(PATCH)
    first, second = machine.install(), machine.install()
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert machine.versions()["dep"] == "1.0"
    assert f"dep {address} {commit}" in (machine.root / ".rocm3d" / "install" / "commits.txt").read_text()
    assert "already installed" in second.stdout
    assert "already installed" not in first.stdout
    machine.pip("uninstall", "-y", "dep")
    assert "already installed" not in machine.install().stdout
    assert machine.versions()["dep"] == "1.0"


def test_a_submodule_is_checked_out_and_the_repository_itself_comes_last(
    machine, make_plan, make_stack, make_project, make_clone, tmp_path
):
    inner, _ = make_clone(make_project(tmp_path / "away" / "inner", "inner"))
    make_project(machine.root, "outer", requires="torch==1.0")
    make_clone(machine.root)
    git = ["git", "-C", str(machine.root), "-c", "protocol.file.allow=always"]
    subprocess.run([*git, "submodule", "--quiet", "add", inner, "libs/inner"], check=True)
    make_clone(machine.root)
    subprocess.run([*git, "submodule", "--quiet", "deinit", "--force", "--all"], check=True)
    requirements(machine, "-e ./libs/inner\n")
    machine.render(make_plan(base=make_stack()))
    environment = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}
    ended = machine.install(**environment)
    assert ended.returncode == 0, ended.stderr
    result = machine.versions()
    assert (result["inner"], result["outer"]) == ("1.0", "1.0")
    assert ended.stdout.index("(libs/inner)") < ended.stdout.index("(the repository itself)")
    assert is_untouched(machine)


def test_a_build_sees_the_variables_of_its_route_and_the_target(
    machine, make_plan, make_stack, make_project, make_decision
):
    """Two routes want one variable differently: each gets its own."""
    for name, value in (("one", "gfx942"), ("two", "a b$c")):
        expected = f"assert (os.environ['PYTORCH_ROCM_ARCH'], os.environ['ARCHS']) == ('gfx942', {value!r})"
        make_project(machine.root / name, name, extra=expected)
    decisions = tuple(
        make_decision(name, "build", env={"ARCHS": value}, commands=(("pip", "install", "--no-deps", f"./{name}"),))
        for name, value in (("one", "{gfx}"), ("two", "a b$c"))
    )
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install()
    assert ended.returncode == 0, ended.stderr
    assert {"one", "two"} <= set(machine.versions())


def test_notes_at_the_end_list_unwanted_packages_and_manual_steps(
    machine, make_plan, make_stack, make_decision, make_wheel
):
    make_wheel(machine.wheels, "innocent", "1.0", "dropped")
    make_wheel(machine.wheels, "dropped", "1.0")
    requirements(machine, "innocent\ndropped\n")
    decisions = (
        make_decision("dropped"),
        make_decision("torchaudio"),
        make_decision("gone", "blocked", reason="it's $(touch pwned) over"),
    )
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install()
    assert ended.returncode == 0, ended.stderr
    assert "note: dropped 1.0 is installed although the plan excludes it" in ended.stderr
    assert "note: torchaudio is required by the repository but missing in the base" in ended.stderr
    assert "note: gone: blocked: it's $(touch pwned) over (to do by hand)" in ended.stderr
    assert not list(machine.root.parent.rglob("pwned"))


# How it is written.

NASTY = ["a b", "$(touch pwned)", "`touch pwned`", "it's", '"', "a;b", "x\ny", "*", "\\", "$HOME", "{{ 1 }}", "a#b"]


@pytest.mark.parametrize("text", NASTY)
def test_shellcheck_accepts_any_plan(tmp_path, make_plan, make_stack, make_decision, text):
    root = tmp_path / "repository"
    root.mkdir()
    (root / "setup.py").write_text("")
    decisions = (
        make_decision("a", "build", env={"A": text}, reason=text, commands=(("pip", "install", text), ("make", text))),
        make_decision(
            "b", "build", commands=(("git", "clone", "https://host/b.git", text), ("pip", "install", f"./{text}"))
        ),
        make_decision("c", "blocked", reason=text),
    )
    plan = make_plan(base=make_stack(form="pip", index=text, requirements=[text]), decisions=decisions)
    script = render(plan, Tree.open(root), "rocm-port")["install.sh"]
    path = tmp_path / "install.sh"
    path.write_bytes(script)
    ended = subprocess.run([SHELLCHECK, path], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "")


@pytest.mark.parametrize("folder", ["rocm-port", "a/b c"])
def test_it_finds_the_repository_above_its_folder(machine, make_plan, folder):
    machine.render(make_plan(), folder)
    ended = machine.install(folder=folder)
    assert ended.returncode == 0, ended.stderr
    assert (machine.root / ".rocm3d" / "install" / "constraints.txt").is_file()


def test_every_base_of_wheels_has_an_install_hint(knowledge, make_plan, tmp_path):
    stacks = [stack for stack in knowledge.stacks.values() if stack.form == "pip"]
    assert stacks
    for stack in stacks:
        script = render(make_plan(base=stack), Tree.open(tmp_path), "rocm-port")["install.sh"].decode()
        assert f"--index-url {stack.index} " in script
        assert f"=={stack.torch}+rocm" in script
        assert "{gfx}" not in script
