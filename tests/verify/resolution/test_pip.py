from __future__ import annotations

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.verify.resolution.index import IndexSettings
from rocm3d.verify.resolution.pip import Pip, find_pip, parse_edges, parse_problem, read_report
from rocm3d.verify.resolution.resolver import DependencyEdge, ResolvedPackage, ResolveRequest

CONFLICT = """\
Collecting middle (from -r r.txt (line 1))
  Downloading middle-1.0-py3-none-any.whl (1 kB)
Processing ./poisoned-1.0-py3-none-any.whl (from middle->-r r.txt (line 1))
ERROR: Cannot install -r r.txt (line 1) because these package versions have conflicting dependencies.

The conflict is caused by:
    poisoned 1.0 depends on torch==2.1
    The user requested (constraint) torch==2.6.0+rocm6.4.3
"""


def test_no_pip_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_pip() is None


def test_pip_on_path_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "pip").write_text("#!/bin/sh\n")
    (tmp_path / "pip").chmod(0o700)

    assert find_pip() == (str(tmp_path / "pip"),)


def test_it_is_stopped_when_it_takes_too_long(tmp_path):
    slow = tmp_path / "pip"
    slow.write_text("#!/bin/sh\nsleep 60\n")
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "requirements.txt").write_text("a\n")

    resolution = Pip((str(slow),), IndexSettings(), seconds=1).resolve(
        ResolveRequest(tmp_path / "requirements.txt", "3.12", "linux")
    )

    assert resolution.problem.kind == "time-out"


def test_edges_are_parsed_from_a_conflict():
    assert list(parse_edges(CONFLICT)) == [
        DependencyEdge("", "", "middle"),
        DependencyEdge("middle", "", "poisoned"),
        DependencyEdge("", "", "middle"),
        DependencyEdge("poisoned", "1.0", "torch", "==2.1"),
    ]


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        (CONFLICT, "conflict"),
        ("ERROR: No matching distribution found for a\n", "conflict"),
        ("WARNING: Failed to establish a new connection\nERROR: No matching distribution found for a\n", "unreachable"),
        ("ERROR: Failed to build 'a' when getting requirements to build wheel\n", "build"),
        ("ERROR: something new\n", "other"),
        ("", "other"),
    ],
)
def test_problems(log, kind):
    problem = parse_problem(log)

    assert problem.kind == kind
    assert problem.text


@given(st.text())
def test_any_log_is_accepted(log):
    list(parse_edges(log))
    assert parse_problem(log).text


def test_a_report_is_read():
    item = {
        "download_info": {"url": "https://h/A_b-1-py3-none-any.whl"},
        "requested": True,
        "metadata": {"name": "A_b", "version": "1", "requires_dist": ["torch>=2 ; extra == 'x'", "!"]},
    }
    source = {"download_info": {"url": "https://h/c-1.tar.gz"}, "metadata": {"name": "c", "version": "1"}}

    resolution = read_report({"install": [item, source]})

    assert resolution.packages == (
        ResolvedPackage("a-b", "1", "https://h/A_b-1-py3-none-any.whl"),
        ResolvedPackage("c", "1", "https://h/c-1.tar.gz", is_source=True),
    )
    assert resolution.edges == (DependencyEdge("", "", "a-b"), DependencyEdge("a-b", "1", "torch", ">=2"))


def test_the_label_names_the_python_for_markers():
    assert "(markers evaluated for Python 3." in Pip(find_pip(), IndexSettings()).label
