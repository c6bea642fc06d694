from __future__ import annotations

import errno
import shutil

import pytest

from rocm3d.model.errors import RefusedError, UserError
from rocm3d.model.verdict import Verdicts
from rocm3d.repository import Repository, open_repository
from rocm3d.scan.selection import RuleSettings
from rocm3d.scan.stage import scan
from rocm3d.verify.stage import LEVELS
from rocm3d.workspace.documents import write_atomically


def test_missing_folder_is_refused(tmp_path, knowledge):
    with pytest.raises(UserError, match="does not exist"):
        Repository(tmp_path / "nowhere", knowledge)


def test_scan_is_the_same_with_and_without_cache(example, knowledge):
    root = example("splat-trainer")
    plain = Repository(root, knowledge).scan()

    first, second = (Repository(root, knowledge, cached=True).scan() for _ in range(2))

    assert first == second == plain


def test_after_a_change_only_the_change_differs(example, knowledge):
    root = example("splat-trainer")
    before = Repository(root, knowledge, cached=True).scan()
    (root / "added.py").write_text("import pynvml\n")

    after = Repository(root, knowledge, cached=True).scan()

    assert [f for f in after.findings if f not in before.findings] == [
        f for f in after.findings if f.path == "added.py"
    ]
    assert after == Repository(root, knowledge).scan()


def test_findings_of_the_baseline_are_stored_but_not_returned(example, knowledge):
    root = example("splat-trainer")
    opened = Repository(root, knowledge)
    before = opened.scan()

    again = opened.scan(before)

    assert (again.findings, again.known) == ((), len(before.findings))
    assert opened.documents.find(type(before)).findings == before.findings


def test_a_folder_of_that_name_that_is_not_ours_is_scanned(example, knowledge):
    root = example("splat-trainer")
    (root / "rocm-port").mkdir()
    (root / "rocm-port" / "a.cu").write_text("#include <device_launch_parameters.h>\n")

    assert "rocm-port/a.cu" in {finding.path for finding in Repository(root, knowledge).scan().findings}


def test_port_gives_the_documents_of_the_single_stages(example, knowledge, tmp_path):
    gpu, root = knowledge.gpu("gfx942"), example("splat-trainer")
    single = Repository(shutil.copytree(root, tmp_path / "again" / "splat-trainer"), knowledge)
    whole = Repository(root, knowledge)

    documents = whole.port(gpu, LEVELS)
    patch = single.apply(single.plan(gpu))
    verdicts = single.verify(LEVELS, ())

    assert (documents.patch, documents.verdicts) == (patch, verdicts)
    assert documents.evidence.tally == single.evidence().tally
    assert documents.report.read_text().startswith("<!doctype html>")


def test_a_port_that_was_undone_is_not_shown_as_edited(example, knowledge):
    repository = Repository(example("pins-only"), knowledge)
    repository.port(knowledge.gpu("gfx942"), LEVELS)
    assert repository.state().rung("edited").outcome == "complete"

    repository.undo(keep_changed=False)

    assert repository.state().rung("edited").outcome == "not_run"
    repository.verify(("static",), ())
    assert repository.state().rung("edited").outcome == "failed"


def test_a_patch_for_another_gpu_does_not_count(example, knowledge):
    repository = Repository(example("splat-trainer"), knowledge)
    repository.port(knowledge.gpu("gfx942"), LEVELS)

    repository.plan(knowledge.gpu("gfx1100"))

    assert repository.state().rung("edited").reason == "the plan has changed since it was applied"


def test_one_level_is_updated_and_the_others_stay(example, knowledge):
    repository = Repository(example("pins-only"), knowledge)
    repository.port(knowledge.gpu("gfx942"), LEVELS)
    before = repository.documents.read(Verdicts)

    result = repository.verify(("workload",), ())

    assert result == before == repository.documents.read(Verdicts)
    assert repository.verify(("compile",), ()).of_levels(("static",)) == before.of_levels(("static",))


def test_after_an_edit_no_earlier_verdict_counts_until_it_is_taken_back(example, knowledge):
    repository = Repository(example("pins-only"), knowledge)
    ported = repository.port(knowledge.gpu("gfx942"), LEVELS).state
    source = repository.root / "added.py"

    source.write_text("import torch\n")
    assert repository.state().rung("edited").outcome == "not_run"
    assert {item.outcome for item in repository.report().verdicts.verdicts} == {"not_run"}

    source.unlink()
    assert repository.state() == ported


def test_a_port_in_another_folder_is_found_without_its_name(example, knowledge):
    root = example("pins-only")
    ported = Repository(root, knowledge, folder="amd").port(knowledge.gpu("gfx942"), LEVELS).state

    assert Repository(root, knowledge).state() == ported
    assert ported.rung("edited").outcome == "complete"


def test_a_damaged_document_of_verdicts_is_replaced(example, knowledge):
    repository = Repository(example("pins-only"), knowledge)
    repository.port(knowledge.gpu("gfx942"), LEVELS)
    (repository.documents.folder / "verdicts.json").write_text("{")

    assert repository.verify(("static",), ()).verdicts


def test_port_scans_each_state_of_the_tree_once(example, knowledge, monkeypatch):
    scanned = []
    monkeypatch.setattr("rocm3d.repository.scan", lambda tree, *rest: scanned.append(tree) or scan(tree, *rest))

    Repository(example("splat-trainer"), knowledge).port(knowledge.gpu("gfx942"), LEVELS)

    assert len(scanned) == 2


def fill_disk_at(monkeypatch, name: str) -> None:
    def write(path, write, **options):
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_atomically(path, write, **options)

    monkeypatch.setattr("rocm3d.workspace.documents.write_atomically", write)


def test_a_full_disk_before_the_edits_says_that_nothing_was_changed(example, knowledge, monkeypatch, snapshot):
    root = example("splat-trainer")
    before = snapshot(root)
    fill_disk_at(monkeypatch, "reserve")

    with pytest.raises(UserError, match="No space left on device; nothing was changed"):
        Repository(root, knowledge).port(knowledge.gpu("gfx942"), LEVELS)

    assert snapshot(root) == before


@pytest.mark.parametrize("name", ["patch.json", "port.patch", "verdicts.json", "evidence.json", "report.html"])
def test_a_full_disk_after_the_edits_says_that_undo_works(example, knowledge, monkeypatch, snapshot, name):
    root = example("splat-trainer")
    before = snapshot(root)
    fill_disk_at(monkeypatch, name)

    with pytest.raises(UserError, match="No space left on device; the files of the port are written") as raised:
        Repository(root, knowledge).port(knowledge.gpu("gfx942"), LEVELS)

    assert "rocm3d undo" in raised.value.hint
    Repository(root, knowledge).undo(keep_changed=False)
    assert snapshot(root) == before


def test_port_stops_before_apply_if_the_licence_policy_refuses_the_plan(tmp_path, knowledge):
    (tmp_path / "requirements.txt").write_text("nvdiffrast\n")
    repository = Repository(tmp_path, knowledge)

    with pytest.raises(RefusedError, match="refused by the licence policy: nvdiffrast"):
        repository.port(knowledge.gpu("gfx942"), LEVELS, licence_policy="refuse")
    assert not (tmp_path / "rocm-port").exists()


def test_open_repository_reads_the_settings_and_refuses_an_unknown_rule(tmp_path, knowledge):
    (tmp_path / "rocm3d.toml").write_text('gpu = "mi300x"\nskip = ["DEP"]\n')
    (tmp_path / "a.py").write_text("")

    assert open_repository(tmp_path, lambda: knowledge).settings.gpu == "mi300x"
    selection = open_repository(tmp_path, lambda: knowledge, only=("CU",)).selection
    assert (selection.only, selection.skip) == (("CU",), ())
    assert selection.settings == RuleSettings("rocm3d.toml", skip=("DEP",))
    assert open_repository(tmp_path, lambda: knowledge, skip=("CU",)).selection.settings is None
    isolated = open_repository(tmp_path, lambda: knowledge, isolated=True)
    assert (isolated.settings.gpu, isolated.selection.settings) == (None, None)
    with pytest.raises(UserError, match="Unknown rule"):
        open_repository(tmp_path, lambda: knowledge, only=("XX",))
