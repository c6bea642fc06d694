"""Dependency benchmark: its list is valid, and its score is computed correctly. Needs no mirror and no network."""

from __future__ import annotations

import subprocess

import dependencies as benchmark
import pytest
from dependencies import RepositoryDependencies

from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

TREE = {
    "requirements.txt": "torch==2.1\nflash-attn\ntorchmetrics\n",
    "README.md": "```\npip install nvdiffrast\n```\n",
    "lib/a.py": "import nvdiffrast.torch as dr\n",
}
RIGHT = {
    "repository": "someone/mini",
    "commit": "0" * 40,
    "files": {"requirements.txt": ("torch", "flash-attn"), "README.md": ("nvdiffrast",)},
    "imports": ("nvdiffrast",),
    "names": ("Flash_Attn",),
    "harmless": ("torchmetrics",),
    "readiness": ("ready-with-deps",),
}


def write(folder):
    for name, text in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def document(tmp_path, knowledge):
    write(tmp_path)
    return scan(Tree.open(tmp_path), knowledge, Selection(), lambda path: None)


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"files": {**RIGHT["files"], "setup.py": ("gsplat",)}}, ["missed: gsplat in setup.py"]),
        ({"imports": ("nvdiffrast", "kaolin")}, ["missed: kaolin in imports"]),
        ({"imports": ()}, ["not on the list: nvdiffrast in imports"]),
        ({"files": {"requirements.txt": ("torch", "flash-attn")}}, ["not on the list: nvdiffrast in README.md"]),
        ({"names": ("torchmetrics", "gsplat")}, ["no record: torchmetrics", "no record: gsplat"]),
        ({"harmless": ("flash.attn",)}, ["harmless: flash.attn"]),
        ({"readiness": ("ready", "blocked")}, ["readiness: ready-with-deps, expected ready or blocked"]),
    ],
)
def test_difference_is_reported(document, change, difference):
    assert (
        difference == benchmark.score(RepositoryDependencies.model_validate({**RIGHT, **change}), document).differences
    )


def test_correct_list_has_no_difference(document):
    result = benchmark.score(RepositoryDependencies.model_validate(RIGHT), document)

    assert ([], set(), set()) == (result.differences, result.missed, result.false)
    table = list(benchmark.report([result]))
    assert ["someone/mini", "4", "4", "0", "0", "ready-with-deps"] == table[1].split()
    assert ["all", "4", "4", "0", "0"] == table[2].split()


def test_unlisted_readiness_is_no_difference(document):
    assert (
        [] == benchmark.score(RepositoryDependencies.model_validate({**RIGHT, "readiness": ()}), document).differences
    )


def test_the_list_is_sound(knowledge):
    listed = benchmark.load()

    assert len(listed) == len({named.repository for named in listed}) >= 13
    assert set() == {package for named in listed for package, _ in named.package_files} - set(knowledge.packages)
    assert [] == [n.repository for n in listed if n.package_files and not n.names]


@pytest.mark.parametrize(("readiness", "code"), [("ready-with-deps", 0), ("blocked", 1)])
def test_benchmark_measures_a_small_repository(tmp_path, capsys, readiness, code):
    work = tmp_path / "work"
    work.mkdir()
    write(work)

    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *who, *arguments], cwd=work, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "step")
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "mirrors" / "someone+mini" / "repo"))
    files = "\n".join(f'"{path}" = {list(packages)}' for path, packages in RIGHT["files"].items())
    listed = tmp_path / "list.toml"
    listed.write_text(
        f'[[repositories]]\nrepository = "someone/mini"\ncommit = "{git("rev-parse", "HEAD").strip()}"\n'
        f'imports = ["nvdiffrast"]\nreadiness = ["{readiness}"]\n[repositories.files]\n{files}\n'
    )

    assert code == benchmark.main(["--mirrors", str(tmp_path / "mirrors"), "--list", str(listed)])
    assert ("expected blocked" in capsys.readouterr().out) == bool(code)


def test_a_repository_that_is_not_listed_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="not on the list: someone/else"):
        benchmark.main(["--mirrors", str(tmp_path), "--repository", "someone/else"])
