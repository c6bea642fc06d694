from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rocm3d.evidence.folder import begin
from rocm3d.evidence.joined import FOLDER, bundle_report, is_bundle, joined_runs
from rocm3d.model.failure import UserError


@pytest.fixture
def kept(make_run, make_bundle, tmp_path):
    """Writes a bundle into the folder of runs."""

    def make(name: str, hour: int = 1):
        run = make_run(name=name, started=datetime(2026, 11, 15, hour, tzinfo=timezone.utc))
        return make_bundle(f"{FOLDER}/{name}", runs=(run,))

    return make


def test_without_runs_there_are_none(tmp_path):
    assert joined_runs(tmp_path) == ((), ())
    (tmp_path / FOLDER).write_text("a file")
    assert joined_runs(tmp_path) == ((), ())


def test_a_link_leads_to_no_run(kept, tmp_path):
    folder = kept("a")
    (tmp_path / "other" / FOLDER).mkdir(parents=True)
    (tmp_path / "other" / FOLDER / "a").symlink_to(folder)
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / FOLDER).symlink_to(tmp_path / FOLDER)

    assert joined_runs(tmp_path / "other") == ((), ())
    assert joined_runs(tmp_path / "third") == ((), ())


def test_what_is_no_whole_bundle_is_named_without_the_place_of_this_machine(kept, tmp_path):
    begun, newer, empty = kept("begun"), kept("newer"), tmp_path / FOLDER / "empty"
    begin(begun)
    (newer / "evidence.json").write_text('{"schema_version": "9.0"}')
    empty.mkdir()

    runs, unread = joined_runs(tmp_path)

    assert runs == ()
    assert [item.folder for item in unread] == ["begun", "empty", "newer"]
    assert unread[0].reason == "begun is incomplete: writing it was interrupted"
    assert str(tmp_path) not in "".join(item.reason for item in unread)


def test_the_oldest_comes_first_each_with_its_chain(kept, tmp_path):
    kept("a", hour=5)
    kept("b", hour=2)

    runs, unread = joined_runs(tmp_path)

    assert [item.folder for item in runs] == ["b", "a"]
    assert unread == ()
    assert all(item.chain.run == item.run.name and item.is_good for item in runs)


def test_an_altered_run_is_there_and_says_so(kept, tmp_path):
    (kept("a") / "added.txt").write_text("x")

    ((run,), _) = joined_runs(tmp_path)

    assert [(item.path, item.how) for item in run.altered] == [("added.txt", "added")]
    assert not run.is_good


def test_what_is_a_bundle(kept, tmp_path):
    assert is_bundle(kept("a"))
    begin(tmp_path)
    assert is_bundle(tmp_path)
    (tmp_path / "inventory.json").touch()
    assert not is_bundle(tmp_path)


def test_a_bundle_by_itself(kept, tmp_path):
    report = bundle_report(kept("a"))

    assert (report.name, report.altered, len(report.sha256)) == ("a", (), 64)
    assert [item.run.name for item in report.runs] == ["a"]


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(UserError, match="not an evidence bundle"):
        bundle_report(tmp_path)
