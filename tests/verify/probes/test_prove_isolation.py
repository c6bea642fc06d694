from __future__ import annotations

from rocm3d.verify.probes.prove_isolation import probe

BEFORE = b"#include <x.h>\nint a;\n"
AFTER = b"#if !defined(USE_ROCM)\n#include <x.h>\n#endif\nint a;\n"
BROKEN = b"#if !defined(USE_CUDA)\n#include <x.h>\n#endif\nint a;\n"
PYTHON = b"import torch\nflags = ['-a']\n"
GUARDED = b"import torch\n\nis_rocm = torch.version.hip is not None\nflags = [] if is_rocm else ['-a']\n"


def test_skipped_when_no_file_was_edited(case):
    (verdict,) = probe.attempt(case([("rocm-port/a", None, b"x")]))

    assert (verdict.outcome, verdict.reason) == ("skipped", "no existing file was edited")


def test_not_run_without_originals(case):
    (verdict,) = probe.attempt(case([("a.cu", BEFORE, AFTER)], originals={}))

    assert (verdict.outcome, verdict.reason) == ("not_run", "the originals are not on this machine: a.cu")


def test_failed_when_the_guard_is_broken(case):
    (verdict,) = probe.attempt(case([("a.cu", BEFORE, BROKEN)]))

    assert verdict.outcome == "failed"
    assert verdict.reason.startswith("a.cu: ")
    assert verdict.looked_at == ("a.cu",)


def test_failed_when_the_text_outside_the_guard_changed(case):
    assert probe.attempt(case([("a.cu", BEFORE, AFTER.replace(b"int a;", b"int b;"))]))[0].outcome == "failed"


def test_failed_when_a_python_guard_is_broken(case):
    broken = GUARDED.replace(b"torch.version.hip is not None", b"hasattr(torch.version, 'hip')")

    assert probe.attempt(case([("setup.py", PYTHON, broken)]))[0].outcome == "failed"


def test_failed_wins_over_not_run(case):
    changes = [("a.cu", BEFORE, BROKEN), ("b.cu", BEFORE, AFTER)]

    assert probe.attempt(case(changes, originals={"a.cu": BEFORE}))[0].outcome == "failed"


def test_an_edit_that_cannot_be_proven_fails(case):
    assert probe.attempt(case([("CMakeLists.txt", b"a\n", b"b\n")]))[0].outcome == "failed"


def test_reason_does_not_blame_the_originals_when_the_edited_file_is_gone(case):
    (verdict,) = probe.attempt(case([("a.cu", BEFORE, AFTER)], tree={}))

    assert verdict.outcome in ("failed", "not_run")
    assert "originals" not in verdict.reason


def test_passed(case):
    (verdict,) = probe.attempt(
        case([("a.cu", BEFORE, AFTER), ("setup.py", PYTHON, GUARDED), ("rocm-port/x", None, b"x")])
    )

    assert (verdict.outcome, verdict.looked_at) == ("passed", ("a.cu", "setup.py"))


def test_failed_when_a_header_defines_the_guard_after_the_port(case):
    tree = {"a.cu": AFTER, "config.h": b"#define USE_ROCM 0\n"}
    (verdict,) = probe.attempt(case([("a.cu", BEFORE, AFTER)], tree=tree))

    assert verdict.outcome == "failed"
    assert verdict.reason == "a.cu: config.h:1 defines USE_ROCM where NVIDIA builds see it (assumption C1)"


def test_the_folder_of_the_port_is_no_part_of_the_facts(case):
    tree = {"a.cu": AFTER, "rocm-port/config.h": b"#define USE_ROCM 0\n"}
    assert probe.attempt(case([("a.cu", BEFORE, AFTER)], tree=tree))[0].outcome == "passed"
