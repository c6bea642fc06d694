from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.inventory import GIT_DEPENDENCY, LFS_POINTER, NOT_CHECKED_OUT, SkippedFile
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.scan.unscanned import GitDependency, unscanned_code, unscanned_in
from rocm3d.workspace.tree import Tree, TreeLimits

MODULES = '[submodule "a"]\n\tpath = libs/k nn\n\turl = https://host/knn.git\n'
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
FROM_GIT = "git+https://host/a/knn.git@v1.2"


def names(document):
    return [item.name for item in document.inventory.unscanned]


@pytest.mark.parametrize(
    "files",
    [
        {".gitmodules": MODULES, "libs/k nn/a.cu": "int a;\n"},
        {".gitmodules": '[submodule "out"]\n\tpath = ../out\n\turl = u\n'},
        {"weights.safetensors": POINTER, "photo.png": POINTER, "notes.md": POINTER, "run.ipynb": POINTER},
        {"latin.cu": b"// caf\xe9\n"},
        {"README.md": f"```bash\npip install {FROM_GIT}\n```\n"},
        {".github/workflows/test.yml": f"jobs: {{a: {{steps: [{{run: 'pip install {FROM_GIT}'}}]}}}}\n"},
        {"requirements.txt": "numpy\ngit+https://host/a/gsplat.git\n"},  # a record knows it
        {"requirements.txt": "git+https://host/a/repository.git\n"},  # the scanned repository itself
        {"docs/requirements.txt": f"{FROM_GIT}\n", "tests/broken/pyproject.toml": "[project\n"},
        {"pyproject.toml": f'[project.optional-dependencies]\nall = ["knn @ {FROM_GIT}"]\n'},
        {"node_modules/x/setup.py": "", "package.json": "{}"},
        {".venv/pyvenv.cfg": "", ".venv/lib/python3/site-packages/x.py": "", ".venv/bin/activate_this.py": ""},
        {"src/__pycache__/a.cpython-311.pyc": b"\0"},
        {".git/hooks/x.py": "", ".rocm3d/x.cu": ""},
    ],
)
def test_what_was_scanned_or_holds_no_source_is_not_listed(scanned, files):
    assert names(scanned(files)) == []


def test_what_the_user_leaves_out_is_not_listed(scanned):
    assert names(scanned({"a.cu": "int a;\n"}, "missing_header")) == []


def test_a_submodule_that_is_not_checked_out_is_listed_with_its_command(scanned):
    (entry,) = scanned({".gitmodules": MODULES, "libs/k nn.txt": ""}).inventory.unscanned

    assert (entry.name, entry.where, entry.reason) == ("libs/k nn", ".gitmodules", NOT_CHECKED_OUT)
    assert shlex.split(entry.commands[0]) == ["git", "submodule", "update", "--init", "--recursive", "--", "libs/k nn"]
    assert entry.commands[1] == "rocm3d scan ."


def test_a_submodule_of_a_submodule_is_fetched_with_the_outer_one(scanned):
    inner = '[submodule "b"]\n\tpath = glm\n\turl = https://host/glm.git\n'
    (entry,) = scanned(
        {".gitmodules": MODULES, "libs/k nn/a.cu": "", "libs/k nn/.gitmodules": inner}
    ).inventory.unscanned

    assert entry.name == "libs/k nn/glm"
    assert shlex.split(entry.commands[0])[-1] == "libs/k nn"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", f"numpy\n{FROM_GIT}\n"),
        ("requirements.txt", f"numpy\nknn @ {FROM_GIT}\n"),
        ("deep/requirements/gpu.txt", f"-e {FROM_GIT}#egg=knn\n"),
        ("pyproject.toml", f'[project]\nname = "p"\ndependencies = ["knn @ {FROM_GIT}"]\n'),
        ("setup.py", f"from setuptools import setup\nsetup(install_requires=['knn @ {FROM_GIT}'])\n"),
        ("install.sh", f"pip install {FROM_GIT}\n"),
        ("install.sh", "git clone https://host/a/knn.git ext/knn\npip install ext/knn\n"),
        ("Dockerfile", f"FROM a\nRUN pip install '{FROM_GIT}'\n"),
        ("environment.yml", f"dependencies:\n- pip:\n  - {FROM_GIT}\n"),
    ],
)
def test_a_git_dependency_without_a_record_is_listed(scanned, path, text):
    (entry,) = scanned({path: text}).inventory.unscanned

    assert (entry.name, entry.reason) == ("knn", GIT_DEPENDENCY)
    assert entry.where in ("https://host/a/knn.git@v1.2", "https://host/a/knn.git")


def test_commands_of_a_git_dependency_make_its_patch(scanned):
    (entry,) = scanned({"requirements.txt": f"{FROM_GIT}\n{FROM_GIT}\n"}).inventory.unscanned

    clone, checkout, apply = entry.commands
    assert shlex.split(clone)[-2:] == ["https://host/a/knn.git", "../knn-v1.2"]
    assert shlex.split(checkout)[-2:] == ["checkout", "v1.2"]
    assert apply.endswith("--dry-run --patch rocm-port/patches/knn@$(git -C ../knn-v1.2 rev-parse HEAD).patch")


def test_a_git_dependency_with_a_commit_is_fetched_by_port(scanned, tmp_path):
    unscanned = scanned({"requirements.txt": f"git+https://host/a/knn.git@{'0' * 40}\n"}).inventory.unscanned

    assert unscanned[0].commands == ("rocm3d port . --gpu GPU --submodules",)
    assert unscanned_in(unscanned, tmp_path, "rocm-port", gpu="mi300x")[0].commands == (
        "rocm3d port . --gpu mi300x --submodules",
    )


@pytest.mark.parametrize(
    "text", ["git+https://me:secret@host/knn.git", "git+https://${TOKEN}@host/knn.git", "git+ext::sh -c touch% knn"]
)
def test_a_git_dependency_that_nobody_can_clone_is_listed_without_a_secret(scanned, text):
    (entry,) = scanned({"requirements.txt": f"knn @ {text}\n"}).inventory.unscanned

    assert "secret" not in entry.model_dump_json()
    assert entry.commands == ()


def test_a_dependency_with_a_patch_in_the_port_folder_was_scanned(scanned, tmp_path):
    unscanned = scanned({"requirements.txt": f"{FROM_GIT}\n", ".gitmodules": MODULES}).inventory.unscanned
    (tmp_path / "amd/patches").mkdir(parents=True)
    (tmp_path / "amd/patches/knn@c0ffee.patch").write_text("")

    assert [item.name for item in unscanned_in(unscanned, tmp_path, "amd")] == ["libs/k nn"]
    (_, dependency) = unscanned_in(unscanned, tmp_path, "other")
    assert " --patch other/patches/knn@$(" in dependency.commands[-1]


@pytest.mark.parametrize("path", ["csrc/a.cu", "requirements.txt", "setup.py", "csrc/a.h"])
def test_a_pointer_of_git_lfs_is_listed(scanned, path):
    (entry,) = scanned({path: POINTER}).inventory.unscanned

    assert (entry.name, entry.reason) == (path, LFS_POINTER)
    assert entry.commands[0] == f"git lfs pull --include={path}"


def test_a_requirements_file_that_another_includes_can_be_a_pointer(scanned):
    assert names(scanned({"requirements.txt": "-r more.in.txt\n", "more.in.txt": POINTER})) == ["more.in.txt"]


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("huge.cu", b"x" * 101, "above the limit"),
        ("requirements.txt", "numpy\n".encode("utf-16"), "NUL"),
        ("pyproject.toml", "[project\nname = ", "TOML"),
        ("setup.py", "print 'python 2'\nsetup(\n", "Python 3"),
    ],
)
def test_a_source_that_was_not_read_or_parsed_is_listed(scanned, path, data, reason):
    (entry,) = scanned({path: data}, limits=TreeLimits(file_bytes=100)).inventory.unscanned

    assert entry.name == path
    assert reason in entry.reason
    assert entry.commands == ()


def test_a_requirement_that_was_not_parsed_is_listed_with_its_line(scanned):
    assert names(scanned({"requirements.txt": "numpy\n==1.0 what is this\n"})) == ["requirements.txt:2"]


def test_links_are_listed_if_they_could_lead_to_source(scanned, tmp_path):
    outside, root = tmp_path / "outside", tmp_path / "repository"
    outside.mkdir()
    (outside / "a.cu").write_text("")
    (root / "node_modules").mkdir(parents=True)
    for name, target in {
        "a.cu": outside / "a.cu", "libs": outside, "data": outside, "photo.png": outside / "a.cu", "gone.cu": "nowhere",
        "third_party": "../missing", "LICENSE": "../missing", "same.cu": "b.cu", "other.py": "notes.txt",
        "in.cu": "node_modules/c.cu",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    (root / "node_modules/c.cu").write_text("")

    document = scanned({"b.cu": "", "notes.txt": "", "package.json": ""})

    assert names(document) == ["a.cu", "gone.cu", "in.cu", "libs", "other.py", "third_party"]


@pytest.mark.parametrize(
    "path", ["venv/a.cu", ".tox/a.py", "src/__pycache__/a.cu", "node_modules/x/a.py", "venv/deep/er/requirements.py"]
)
def test_an_ignored_folder_is_listed_if_nobody_installed_its_source(scanned, path):
    (entry,) = scanned({path: "", "b.py": ""}).inventory.unscanned

    assert path.startswith(f"{entry.name}/")
    assert "not scanned" in entry.reason


def test_folders_beyond_the_limits_are_listed(scanned):
    document = scanned({"a/b/c.cu": "", "d.cu": "", "e.cu": ""}, limits=TreeLimits(depth=1, files=1))

    assert {item.name for item in document.inventory.unscanned} == {".", "a/b"}


folder_names = st.from_regex(r"[a-z]{1,6}(/[a-z]{1,6}){0,2}", fullmatch=True)


@given(
    modules=st.lists(folder_names, unique=True, max_size=4),
    dependencies=st.lists(st.tuples(folder_names, st.text("abc/.-@#$ ", max_size=6)), max_size=4),
    noise=st.text(max_size=40),
)
def test_every_submodule_is_listed_once_and_every_command_is_one_line(tmp_path_factory, modules, dependencies, noise):
    """Whatever else is in the files."""
    lines = "".join(f'[submodule "{name}"]\npath = {name}\nurl = u\n' for name in modules)
    urls = [GitDependency(name=name, url=f"https://host/{name}.git", revision=rev) for name, rev in dependencies]
    root = tmp_path_factory.mktemp("tree")
    (root / ".gitmodules").write_bytes(f"{lines}# {noise!r}\n".encode())

    entries = unscanned_code(Tree.open(root), [SkippedFile(path="a.cu", reason=noise)], urls)

    assert [item.name for item in entries if item.reason == NOT_CHECKED_OUT] == sorted(modules)
    assert {item.where.partition("@")[0] for item in entries if item.reason == GIT_DEPENDENCY} == {x.url for x in urls}
    for command in (command for item in entries for command in item.commands):
        assert "\n" not in command
        shlex.split(command)


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("https://github.com/Owner/helpers.git@abc", []),
        ("https://github.com/owner/Helpers", []),
        ("https://github.com/other/helpers.git", ["helpers"]),
        ("https://host/owner/helpers.git", ["helpers"]),
        ("https://host/github.com/owner/helpers.git", ["helpers"]),
    ],
)
def test_a_harmless_repository_is_known_by_its_owner(known, make_package, tmp_path, url, listed):
    harmless = {"harmless": True, "repositories": ("Owner/helpers",), "imports": ("helpers",)}
    record = make_package("helpers", "helpers", "keep").model_copy(update=harmless)
    (tmp_path / "requirements.txt").write_text(f"helpers\nhelpers @ git+{url}\n")
    (tmp_path / "a.py").write_text("import helpers\n")
    knowledge = replace(known, packages={"helpers": record})
    document = scan(Tree.open(tmp_path), knowledge, Selection(), lambda _: None)

    assert names(document) == listed
    assert not [finding for finding in document.findings if finding.package == "helpers"]


def test_a_repository_with_unscanned_code_is_not_ready(scanned):
    inventory = scanned({".gitmodules": MODULES, "a.py": ""}).inventory

    assert inventory.readiness == "partial"
    assert inventory.reasons == ("no CUDA-specific code or dependency found in what was scanned",)
