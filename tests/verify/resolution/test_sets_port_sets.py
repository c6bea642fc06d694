from __future__ import annotations

from rocm3d.verify.resolution.sets import overrides, port_sets


def texts(sets):
    return {item.source: [line.text for line in item.lines] for item in sets}


def test_scripts_of_the_ports_folder_are_no_sets(ported):
    """install.sh installs the files, and in steps of their own what the plan routes."""
    files = {"rocm-port/install.sh": "pip install --no-deps amd_gsplat\n", "rocm-port/overrides.txt": "a\n"}

    assert port_sets(ported(files)) == []


def test_sources_that_install_sh_builds_are_included(ported, make_decision):
    files = {"requirements.txt": "a\ngit+https://h/o/clip\n", "rocm-port/requirements.txt": "a\n"}

    assert texts(port_sets(ported(files, [make_decision("a"), make_decision("clip")]))) == {
        "rocm-port/requirements.txt": ["a"],
        "requirements.txt (lines that the plan keeps)": ["git+https://h/o/clip"],
    }


def test_originals_with_a_copy_are_not_resolved_again(ported, make_decision):
    files = {"requirements.txt": "torch==2.1\na\n", "rocm-port/requirements.txt": "a\n"}

    assert texts(port_sets(ported(files, [make_decision("a"), make_decision("torch", "drop")]))) == {
        "rocm-port/requirements.txt": ["a"]
    }


def test_dropped_packages_are_ignored(ported, make_decision):
    files = {"setup.sh": "pip install a flash-attn b\n", "rocm-port/requirements.txt": "b\n"}
    decisions = [make_decision("a"), make_decision("b"), make_decision("flash-attn", "build")]

    assert texts(port_sets(ported(files, decisions))) == {
        "rocm-port/requirements.txt": ["b"],
        "setup.sh (lines that the plan keeps)": ["a"],
    }


def test_constraints_of_the_port_hold_for_all(ported):
    (requirement_set,) = port_sets(ported({"rocm-port/requirements.txt": "a\n", "rocm-port/constraints.txt": "b<2\n"}))

    assert [line.text for line in requirement_set.constraints] == ["b<2"]


def test_overrides_are_read_separately(ported):
    plain_case = ported({"rocm-port/overrides.txt": "triton ; sys_platform == 'never'\n"})

    assert [line.name for line in overrides(plain_case)] == ["triton"]
