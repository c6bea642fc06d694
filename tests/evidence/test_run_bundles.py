from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rocm3d.evidence.folder import mark_unfinished
from rocm3d.evidence.run_bundles import RUNS_FOLDER, bundle_report, is_bundle, joined_runs
from rocm3d.model.errors import UserError
from rocm3d.workspace.documents import Documents


@pytest.fixture
def stored_runs(make_run, make_bundle, tmp_path):
    """Writes a bundle into the folder of runs."""

    def make(name: str, hour: int = 1):
        run = make_run(name=name, started=datetime(2026, 11, 15, hour, tzinfo=timezone.utc))
        return make_bundle(f"{RUNS_FOLDER}/{name}", runs=(run,))

    return make


def test_without_runs_nothing_is_returned(tmp_path):
    assert joined_runs(Documents(tmp_path, trusted=True)) == ((), ())
    (tmp_path / RUNS_FOLDER).write_text("a file")
    assert joined_runs(Documents(tmp_path, trusted=True)) == ((), ())


def test_a_link_leads_to_no_run(stored_runs, tmp_path):
    folder = stored_runs("a")
    (tmp_path / "other" / RUNS_FOLDER).mkdir(parents=True)
    (tmp_path / "other" / RUNS_FOLDER / "a").symlink_to(folder)
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / RUNS_FOLDER).symlink_to(tmp_path / RUNS_FOLDER)

    assert joined_runs(Documents(tmp_path / "other", trusted=True)) == ((), ())
    assert joined_runs(Documents(tmp_path / "third", trusted=True)) == ((), ())


def test_what_is_no_whole_bundle_is_named_without_the_place_of_this_machine(stored_runs, tmp_path):
    begun, newer, empty = stored_runs("begun"), stored_runs("newer"), tmp_path / RUNS_FOLDER / "empty"
    mark_unfinished(begun)
    (newer / "evidence.json").write_text('{"schema_version": "9.0"}')
    empty.mkdir()

    runs, unread = joined_runs(Documents(tmp_path, trusted=True))

    assert runs == ()
    assert [entry.folder for entry in unread] == ["begun", "empty", "newer"]
    assert unread[0].reason == "begun is incomplete: writing it was interrupted"
    assert str(tmp_path) not in "".join(entry.reason for entry in unread)


def test_the_oldest_comes_first_each_with_its_chain(stored_runs, tmp_path):
    stored_runs("a", hour=5)
    stored_runs("b", hour=2)

    runs, unread = joined_runs(Documents(tmp_path, trusted=True))

    assert [entry.folder for entry in runs] == ["b", "a"]
    assert unread == ()
    assert all(entry.chain.run == entry.run.name and entry.is_good for entry in runs)


def test_an_altered_run_is_listed_and_reports_it(stored_runs, tmp_path):
    (stored_runs("a") / "added.txt").write_text("x")

    ((run,), _) = joined_runs(Documents(tmp_path, trusted=True))

    assert [(entry.path, entry.how) for entry in run.altered] == [("added.txt", "added")]
    assert not run.is_good


def test_what_is_a_bundle(stored_runs, tmp_path):
    assert is_bundle(stored_runs("a"))
    mark_unfinished(tmp_path)
    assert is_bundle(tmp_path)
    (tmp_path / "inventory.json").touch()
    assert not is_bundle(tmp_path)


def test_a_bundle_by_itself(stored_runs, tmp_path):
    report = bundle_report(stored_runs("a"))

    assert (report.name, report.altered, len(report.sha256)) == ("a", (), 64)
    assert [entry.run.name for entry in report.runs] == ["a"]


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(UserError, match="not an evidence bundle"):
        bundle_report(tmp_path)
