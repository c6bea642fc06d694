from __future__ import annotations

from rocm3d.verify.probes.match_patch import attempt, probe

CHANGES = [("a.cu", b"old", b"new"), ("rocm-port/README.md", None, b"added")]


def test_skipped_when_the_patch_changes_nothing(case):
    verdict = attempt(case())

    assert (verdict.outcome, verdict.reason) == ("skipped", "the patch changes no files")


def test_failed_when_a_file_was_tampered_with(case):
    verdict = attempt(case(CHANGES, tree={"a.cu": b"new!", "rocm-port/README.md": b"added"}))

    assert (verdict.outcome, verdict.reason) == ("failed", "changed since the patch was applied: a.cu")
    assert verdict.looked_at == ("a.cu", "rocm-port/README.md")


def test_failed_when_a_file_is_gone(case):
    verdict = attempt(case(CHANGES, tree={"a.cu": b"new"}))

    assert (verdict.outcome, verdict.reason) == ("failed", "changed since the patch was applied: rocm-port/README.md")


def test_failed_when_a_file_became_a_link(case, tmp_path):
    applied = case(CHANGES)
    (tmp_path / "elsewhere").write_bytes(b"new")
    (tmp_path / "a.cu").unlink()
    (tmp_path / "a.cu").symlink_to("elsewhere")

    assert attempt(applied).outcome == "failed"


def test_passed(case):
    verdict = attempt(case(CHANGES))

    assert (verdict.outcome, verdict.level, verdict.probe) == ("passed", "static", "match_patch")
    assert verdict.looked_at == ("a.cu", "rocm-port/README.md")
    assert probe.name == "match_patch"
