from __future__ import annotations

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from rocm3d.verify.resolution.index import IndexSettings
from rocm3d.verify.resolution.resolver import DependencyEdge, ResolvedPackage, ResolveRequest
from rocm3d.verify.resolution.uv import Uv, find_uv, parse_edges, parse_lock, parse_problem


def test_no_uv_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))

    assert find_uv() is None


def test_the_uv_of_our_own_environment_is_found():
    assert os.access(find_uv(), os.X_OK)


def test_it_is_stopped_when_it_takes_too_long(tmp_path):
    """workspace.process ends the whole group. This test checks only that the limit is used and named."""
    slow = tmp_path / "uv"
    slow.write_text('#!/bin/sh\nif [ "$1" = --version ]; then echo uv 1.0; exit; fi\nsleep 60\n')
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "requirements.txt").write_text("a\n")

    resolution = Uv(str(slow), IndexSettings(), seconds=1).resolve(
        ResolveRequest(tmp_path / "requirements.txt", "3.12", "linux")
    )

    assert (resolution.problem.kind, resolution.problem.text) == ("time-out", "uv 1.0 was stopped at the 1 s limit")


@pytest.mark.parametrize(
    ("log", "kind", "subject"),
    [
        ("error: No solution found when resolving dependencies\n  cause: Because a\n         depends", "conflict", ""),
        ("  × No solution found when resolving dependencies:\n  ╰─▶ Because a depends on b", "conflict", ""),
        ("error: Failed to build `flash-attn==2.5.6`\n  cause: The build backend returned", "build", "flash-attn"),
        ("  × Failed to download and build `a @ git+https://h/a`\n  ├─▶ Git operation failed", "unreachable", "a"),
        ("error: Request failed\n  cause: Failed to fetch: http://h/simple/a/\n", "unreachable", "http://h/simple/a/"),
        ("DEBUG No solution found\nerror: something new", "other", ""),
        ("", "other", ""),
    ],
)
def test_problems_of_old_and_new_releases(log, kind, subject):
    problem = parse_problem(log)

    assert (problem.kind, problem.subject) == (kind, subject)
    assert problem.text


def test_the_text_of_a_conflict_is_uvs_message_on_one_line():
    text = parse_problem(
        "error: No solution found when resolving dependencies\n  cause: Because a\n         depends on b"
    ).text

    assert text == "Because a depends on b"


@pytest.mark.parametrize(
    ("logged", "specifier"),
    [
        ("*", ""),
        (">=2.1, <2.1+", "==2.1"),
        ("<2.1 | >=2.1+", "<2.1|>2.1"),
        (">1, <=2.1+", ">1,<=2.1"),
        ("==2.6.0+rocm6.4.3", "==2.6.0+rocm6.4.3"),
        (">=2.1.dev0, <2.2.dev0", ">=2.1.dev0,<2.2.dev0"),
        ("", ""),
    ],
)
def test_ranges_are_converted_to_specifiers(logged, specifier):
    (edge,) = parse_edges(f"DEBUG Adding transitive dependency for a[x]==1.0: torch[opt]{logged}")

    assert edge == DependencyEdge("a", "1.0", "torch", specifier)


def test_direct_requirements_have_no_parent():
    log = "DEBUG Solving with x\nDEBUG Adding direct dependency: mid*\nWARN a\n"

    assert list(parse_edges(log)) == [DependencyEdge("", "", "mid")]


@given(st.text())
def test_any_log_is_accepted(log):
    list(parse_edges(log))
    assert parse_problem(log).text


@given(st.from_regex(r"\A(0|[1-9][0-9]?)(\.[0-9]{1,2}){1,2}\Z"))
def test_a_pin_stays_a_pin(version):
    (edge,) = parse_edges(f"DEBUG Adding direct dependency: torch>={version}, <{version}+")

    assert SpecifierSet(edge.specifier).contains(f"{version}+rocm6.4")


def test_packages_of_a_lock():
    lock = """
lock-version = "1.0"
[[packages]]
name = "a"
version = "1"
wheels = [{ url = "https://h/a-1-py3-none-any.whl", size = 5, hashes = {} }]
sdist = { url = "https://h/a-1.tar.gz" }
[[packages]]
name = "b"
version = "2"
sdist = { url = "https://h/b-2.tar.gz", hashes = {} }
[[packages]]
name = "c"
vcs = { type = "git", url = "https://h/c", commit-id = "0" }
[[packages]]
name = "d"
archive = { url = "https://h/d-1%2Bcu118-cp310-cp310-linux_x86_64.whl", hashes = {} }
"""

    assert parse_lock(lock) == (
        ResolvedPackage("a", "1", "https://h/a-1-py3-none-any.whl", 5),
        ResolvedPackage("b", "2", "https://h/b-2.tar.gz", is_source=True),
        ResolvedPackage("c", "", "https://h/c", is_source=True),
        ResolvedPackage("d", "", "https://h/d-1%2Bcu118-cp310-cp310-linux_x86_64.whl"),
    )


def test_it_resolves_for_the_stacks_python_and_platform(index, tmp_path):
    index.wheel("a", "1.0", "only-old ; python_version < '3.14'", "only-windows ; sys_platform == 'win32'")
    index.wheel("only-windows", "1.0", tag="py3-none-win_amd64")
    (tmp_path / "requirements.txt").write_text("a\n")
    uv = Uv(find_uv(), IndexSettings(index.url))

    resolution = uv.resolve(ResolveRequest(tmp_path / "requirements.txt", "3.14", "windows"))

    assert [item.name for item in resolution.packages] == ["a", "only-windows"]
    assert resolution.problem is None
