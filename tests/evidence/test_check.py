from __future__ import annotations

import hashlib
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm3d.evidence.check import check
from rocm3d.evidence.folder import NAME, SEAL
from rocm3d.model.failure import UserError


def altered(place, digest=""):
    return [(item.path, item.how) for item in check(place, digest).altered]


def reseal(place, text):
    (place / NAME).write_text(text)
    (place / SEAL).write_text(f"{hashlib.sha256(text.encode()).hexdigest()}  {NAME}\n")


def test_a_changed_file(make_bundle):
    place = make_bundle()
    (place / "files" / "log.txt").write_text("Done\n")

    assert altered(place) == [("files/log.txt", "changed")]


def test_a_file_that_is_gone(make_bundle):
    place = make_bundle()
    (place / "files" / "log.txt").unlink()

    assert altered(place) == [("files/log.txt", "missing")]


def test_files_that_were_added(make_bundle):
    place = make_bundle()
    (place / "files" / "new.txt").touch()
    (place / NAME.upper()).touch()

    assert altered(place) == [("EVIDENCE.JSON", "added"), ("files/new.txt", "added")]


def test_links_are_not_followed(make_bundle, tmp_path):
    place = make_bundle()
    (tmp_path / "same.txt").write_text("done\n")
    (place / "files" / "log.txt").unlink()
    (place / "files" / "log.txt").symlink_to(tmp_path / "same.txt")
    (place / "more").symlink_to(tmp_path)

    assert altered(place) == [("files/log.txt", "link"), ("more", "link")]


def test_a_pipe_is_not_waited_for(make_bundle):
    place = make_bundle()
    os.mkfifo(place / "pipe")

    assert altered(place) == [("pipe", "link")]


@pytest.mark.parametrize("text", ["", "{}", "no JSON"])
def test_an_evidence_that_was_replaced(make_bundle, text):
    place = make_bundle()
    (place / NAME).write_text(text)

    assert altered(place) == [(NAME, "changed")]


def test_a_verdict_that_was_made_better(make_bundle, make_run):
    place = make_bundle(runs=(make_run(status="failed", reason="no"),))
    (place / NAME).write_text((place / NAME).read_text().replace('"failed"', '"finished"'))

    assert altered(place) == [(NAME, "changed")]


@pytest.mark.parametrize("seal", ["", "0" * 64, "x  other.json\n"])
def test_a_seal_that_was_changed(make_bundle, seal):
    place = make_bundle()
    (place / SEAL).write_text(seal)

    assert altered(place) == [(NAME, "changed")]


def test_who_seals_it_anew_is_found_out_by_the_digest(make_bundle):
    place = make_bundle()
    told = check(place).sha256
    reseal(place, (place / NAME).read_text().replace("50000", "60000"))

    assert altered(place) == []
    assert altered(place, told) == [(NAME, "changed")]


def test_the_digest_may_be_written_large(make_bundle):
    place = make_bundle()

    assert altered(place, check(place).sha256.upper()) == []


def test_names_that_lead_out_are_not_opened(make_bundle, tmp_path):
    place = make_bundle()
    (tmp_path / "log.txt").write_text("done\n")
    reseal(place, (place / NAME).read_text().replace("files/log.txt", "../log.txt"))

    assert altered(place) == [("../log.txt", "missing"), ("files/log.txt", "added")]


def test_a_newer_schema_that_is_sealed_is_refused(make_bundle):
    place = make_bundle()
    reseal(place, (place / NAME).read_text().replace('"schema_version": "1.0"', '"schema_version": "2.0"'))

    with pytest.raises(UserError, match=r"has schema 2\.0"):
        check(place)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_is_found(make_bundle, tmp_path, data):
    place = tmp_path / "bundle" if (tmp_path / "bundle").exists() else make_bundle()
    target = data.draw(st.sampled_from([place / NAME, place / "files" / "log.txt"]))
    whole = target.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    target.write_bytes(whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :])
    try:
        assert next(name for name, _ in altered(place)) == target.relative_to(place).as_posix()
    finally:
        target.write_bytes(whole)


def test_a_bundle_that_nobody_touched(make_bundle):
    place = make_bundle()

    found = check(place)

    assert (found.altered, found.sealed) == ((), 1)
    assert found.sha256 == hashlib.sha256((place / NAME).read_bytes()).hexdigest()
    assert found.chains[0].run == "train"
