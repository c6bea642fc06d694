from __future__ import annotations

import hashlib
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm3d.evidence.check import check_seal
from rocm3d.evidence.folder import EVIDENCE_FILE, SEAL_FILE
from rocm3d.model.base import SCHEMA_VERSION
from rocm3d.model.errors import UserError

VERSION = f'"schema_version": "{SCHEMA_VERSION}"'


def altered(path, digest=""):
    return [(entry.path, entry.how) for entry in check_seal(path, digest).altered]


def reseal(path, text):
    (path / EVIDENCE_FILE).write_text(text)
    (path / SEAL_FILE).write_text(f"{hashlib.sha256(text.encode()).hexdigest()}  {EVIDENCE_FILE}\n")


def test_a_changed_file(make_bundle):
    path = make_bundle()
    (path / "files" / "log.txt").write_text("Done\n")

    assert altered(path) == [("files/log.txt", "changed")]


def test_a_file_that_is_gone(make_bundle):
    path = make_bundle()
    (path / "files" / "log.txt").unlink()

    assert altered(path) == [("files/log.txt", "missing")]


def test_files_that_were_added(make_bundle):
    path = make_bundle()
    (path / "files" / "new.txt").touch()
    (path / EVIDENCE_FILE.upper()).touch()

    assert altered(path) == [("EVIDENCE.JSON", "added"), ("files/new.txt", "added")]


def test_links_are_not_followed(make_bundle, tmp_path):
    path = make_bundle()
    (tmp_path / "same.txt").write_text("done\n")
    (path / "files" / "log.txt").unlink()
    (path / "files" / "log.txt").symlink_to(tmp_path / "same.txt")
    (path / "more").symlink_to(tmp_path)

    assert altered(path) == [("files/log.txt", "link"), ("more", "link")]


def test_a_pipe_is_not_waited_for(make_bundle):
    path = make_bundle()
    os.mkfifo(path / "pipe")

    assert altered(path) == [("pipe", "link")]


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_an_evidence_that_was_replaced(make_bundle, text):
    path = make_bundle()
    (path / EVIDENCE_FILE).write_text(text)

    assert altered(path) == [(EVIDENCE_FILE, "changed")]


def test_a_verdict_that_was_made_better(make_bundle, make_run):
    path = make_bundle(runs=(make_run(status="failed", reason="no"),))
    (path / EVIDENCE_FILE).write_text((path / EVIDENCE_FILE).read_text().replace('"failed"', '"finished"'))

    assert altered(path) == [(EVIDENCE_FILE, "changed")]


@pytest.mark.parametrize("seal", ["", "0" * 64, "x  other.json\n"])
def test_a_seal_that_was_changed(make_bundle, seal):
    path = make_bundle()
    (path / SEAL_FILE).write_text(seal)

    assert altered(path) == [(EVIDENCE_FILE, "changed")]


def test_who_seals_it_anew_is_found_out_by_the_digest(make_bundle):
    path = make_bundle()
    messages = check_seal(path).sha256
    reseal(path, (path / EVIDENCE_FILE).read_text().replace("50000", "60000"))

    assert altered(path) == []
    assert altered(path, messages) == [(EVIDENCE_FILE, "changed")]


def test_the_digest_may_be_written_large(make_bundle):
    path = make_bundle()

    assert altered(path, check_seal(path).sha256.upper()) == []


def test_names_that_lead_out_are_not_opened(make_bundle, tmp_path):
    path = make_bundle()
    (tmp_path / "log.txt").write_text("done\n")
    reseal(path, (path / EVIDENCE_FILE).read_text().replace("files/log.txt", "../log.txt"))

    assert altered(path) == [("../log.txt", "missing"), ("files/log.txt", "added")]


def test_a_newer_schema_that_is_sealed_is_refused(make_bundle):
    path = make_bundle()
    reseal(
        path,
        (path / EVIDENCE_FILE).read_text().replace(VERSION, '"schema_version": "2.0"'),
    )

    with pytest.raises(UserError, match=r"has schema 2\.0"):
        check_seal(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_is_found(make_bundle, tmp_path, data):
    path = tmp_path / "bundle" if (tmp_path / "bundle").exists() else make_bundle()
    target = data.draw(st.sampled_from([path / EVIDENCE_FILE, path / "files" / "log.txt"]))
    complete = target.read_bytes()
    at = data.draw(st.integers(0, len(complete) - 1))
    target.write_bytes(complete[:at] + bytes([complete[at] ^ data.draw(st.integers(1, 255))]) + complete[at + 1 :])
    try:
        assert next(name for name, _ in altered(path)) == target.relative_to(path).as_posix()
    finally:
        target.write_bytes(complete)


def test_a_bundle_that_nobody_touched(make_bundle):
    path = make_bundle()

    result = check_seal(path)

    assert (result.altered, result.sealed) == ((), 1)
    assert result.sha256 == hashlib.sha256((path / EVIDENCE_FILE).read_bytes()).hexdigest()
    assert result.chains[0].run == "train"
