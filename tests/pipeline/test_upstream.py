"""Drafts of a port with a submodule and a git dependency; no foreign file is overwritten."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from rocm3d.apply.git_patch import file_diff, mail_patch
from rocm3d.evidence.ledger import LedgerChange, LedgerFile
from rocm3d.model.errors import UserError
from rocm3d.pipeline import ApplyOptions, Repository
from rocm3d.pipeline.upstream import draft_upstream
from rocm3d.verify.probe import Network

CUDA = Path(__file__).resolve().parents[2] / "examples" / "splat-trainer"
PULL = "https://github.com/acme/knn/pull/7"


@pytest.fixture(scope="module")
def origin(tmp_path_factory, knowledge, git):
    """Ported once: a repository around libs/knn, with a patch for a dependency from git; and how to copy it."""
    base = tmp_path_factory.mktemp("upstream")
    module, root = base / "knn-origin", base / "around"
    for folder in (module, root):
        shutil.copytree(CUDA / "csrc", folder / "csrc")
        shutil.copy(CUDA / "setup.py", folder)
    (root / "requirements.txt").write_text("git+https://github.com/acme/fancy-raster@v1.0\nnumpy\n")
    for folder in (module, root):
        git(folder, "init", "-q", "-b", "main")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "start")
    git(root, "submodule", "--quiet", "add", module, "libs/knn")
    git(root, "commit", "-qm", "submodule")
    patch = mail_patch("fix", "text", [file_diff("r.cu", b"a\n", b"b\n"), file_diff("rocm-port/x", None, b"c\n")])
    repository = Repository(root, knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")), ApplyOptions(review=True))
    (root / "rocm-port" / "patches" / f"fancy-raster@{'d' * 40}.patch").write_bytes(patch)
    repository.verify(("static",), (), Network())
    return root


@pytest.fixture
def ported(origin, tmp_path, knowledge):
    root = tmp_path / "around"
    shutil.copytree(origin, root, symlinks=True)
    return Repository(root, knowledge)


@pytest.fixture
def book(tmp_path):
    return LedgerFile.open(tmp_path / "ledger.json", print)


def test_no_draft_from_changed_documents(ported, book):
    ported.evidence()
    path = ported.documents.folder / "verdicts.json"
    path.write_text(path.read_text() + " ")

    with pytest.raises(UserError, match=r"verdicts\.json was changed, or"):
        draft_upstream(ported, "pr", None, book)

    assert not book.path.exists()


@pytest.mark.parametrize("line", [b"\n+#if", b"\n+++ b/"])
@pytest.mark.parametrize("which", ["port.patch", "knn"])
def test_no_draft_from_a_patch_that_differs_from_the_documents(ported, book, which, line):
    patches = ported.root / "rocm-port" / "patches"
    path = ported.documents.folder / which if which == "port.patch" else next(patches.glob("knn@*"))
    path.write_bytes(path.read_bytes().replace(line, b"%s//" % line, 1))

    with pytest.raises(UserError, match=r"differs from patch\.json|port\.patch was changed, or"):
        draft_upstream(ported, "pr", None, book)


def test_a_folder_of_somebody_else_is_left_alone(ported, book, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")

    with pytest.raises(UserError, match="not made by rocm3d"):
        draft_upstream(ported, "pr", tmp_path / "mine", book)

    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    assert not book.path.exists()


@pytest.mark.parametrize("path", ["../../../outside", "/proc/kmsg", "knn/../../verdicts.json"])
def test_a_list_of_drafts_that_came_with_the_repository_names_no_other_file(ported, book, tmp_path, path):
    (tmp_path / "outside").write_text("not a draft")
    manifest = draft_upstream(ported, "pr", None, book).folder / "drafts.json"
    listed = json.loads(manifest.read_text())
    listed["files"] = [{"path": path, "sha256": "0" * 64}]
    manifest.write_text(json.dumps(listed))

    with pytest.raises(UserError, match="which is not a draft's file"):
        draft_upstream(ported, "pr", None, book)


def test_a_list_of_drafts_that_is_a_link_is_not_read(ported, book, tmp_path):
    manifest = draft_upstream(ported, "pr", None, book).folder / "drafts.json"
    manifest.rename(tmp_path / "outside")
    manifest.symlink_to(tmp_path / "outside")

    with pytest.raises(UserError, match="is a symlink"):
        draft_upstream(ported, "pr", None, book)


def test_a_draft_that_somebody_worked_on_is_not_overwritten(ported, book):
    path = draft_upstream(ported, "pr", None, book).folder / "knn" / "body.md"
    path.write_text("my own words")

    with pytest.raises(UserError, match=r"body\.md was edited since it was written"):
        draft_upstream(ported, "pr", None, book)

    assert path.read_text() == "my own words"


def test_a_list_of_files_that_leads_elsewhere_is_refused(ported, book, tmp_path):
    folder = draft_upstream(ported, "pr", None, book).folder
    (tmp_path / "thesis.txt").write_text("years")
    message = json.loads((folder / "drafts.json").read_text())
    message["files"].append({"path": "../../../thesis.txt", "sha256": "0" * 64})
    message["files"][0]["path"] = "around/gone.md"
    (folder / "drafts.json").write_text(json.dumps(message))

    with pytest.raises(UserError, match="thesis"):
        draft_upstream(ported, "pr", None, book)

    assert (tmp_path / "thesis.txt").read_text() == "years"


def test_each_repository_gets_a_draft_whose_patch_applies(ported, book, git, tmp_path):
    output = draft_upstream(ported, "pr", None, book)
    drafts = {item.name: item for item in output.document.drafts}

    assert {name: item.part for name, item in drafts.items()} == {
        "around": "repository", "knn": "submodule", "fancy-raster": "dependency",
    }  # fmt: skip
    assert drafts["around"].commit == git(ported.root, "rev-parse", "HEAD").strip()
    assert (drafts["knn"].passed, drafts["fancy-raster"].passed) == (3, 0)
    assert drafts["fancy-raster"].origin == "https://github.com/acme/fancy-raster"
    assert drafts["knn"].origin == ""
    for name, source in (("around", ported.root), ("knn", ported.root / "libs" / "knn")):
        clean = tmp_path / "clean" / name
        git(tmp_path, "clone", "-q", "--no-recurse-submodules", source, clean)
        for patch in sorted((output.folder / name).glob("*.patch")):
            git(clean, "apply", patch)
        assert b"USE_ROCM" in (clean / "csrc" / "forward.cu").read_bytes()
        # An author is nobody's business but the sender's.
        assert b"From:" not in (output.folder / name / "edits.patch").read_bytes()
    assert not (output.folder / "knn" / "folder.patch").exists()
    assert (output.folder / "fancy-raster" / "folder.patch").read_bytes().startswith(b"diff --git a/rocm-port/x")


def test_unifdef_command_of_the_draft_works(ported, book, git):
    if shutil.which("unifdef") is None:
        pytest.skip("not run: unifdef is not installed")
    ported.undo(keep_changed=False)
    shutil.rmtree(ported.root / "rocm-port")
    plan = ported.plan(ported.knowledge.gpu("gfx942"))
    ported.apply(plan)
    ported.verify(("static",), (), Network())
    ported.evidence()
    output = draft_upstream(ported, "pr", None, book)
    file = ported.root / "csrc" / "forward.cu"

    assert "on `csrc/forward.cu` prints" in (output.folder / "around" / "body.md").read_text()
    words = ["unifdef", "-UUSE_ROCM", "-U__HIP_PLATFORM_AMD__", str(file)]
    bare = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    assert bare != file.read_text()
    assert bare == git(ported.root, "show", "HEAD:csrc/forward.cu")


def test_manual_changes_are_listed_as_not_in_the_patch(ported, book):
    assert draft_upstream(ported, "pr", None, book).manually_changed == ()
    for name in ("csrc/forward.cu", "train.py", "scene.ply"):
        with (ported.root / name).open("a") as stream:
            stream.write("\n")

    output = draft_upstream(ported, "pr", None, book)
    folder = output.folder / "around"

    assert output.manually_changed == ("csrc/forward.cu", "train.py")
    assert "not in this patch: `csrc/forward.cu`, `train.py`." in (folder / "body.md").read_text()
    assert "not in a patch: `csrc/forward.cu`, `train.py`. Add them" in (folder / "before-sending.md").read_text()
    assert "not in this patch" not in (output.folder / "knn" / "body.md").read_text()


def test_the_ledger_recognises_the_fix_and_the_draft_has_its_status(ported, book):
    first = draft_upstream(ported, "pr", None, book)
    knn = next(fix for fix in first.fixes.values() if fix.dependency == "knn")
    book.mark(knn.id, LedgerChange(state="merged", links=(PULL,), repositories=("other",)))

    again = draft_upstream(ported, "issue", None, book)

    assert again.fixes[knn.id].repositories == ("around", "other")
    assert f"Also needs a change in `knn` (merged: {PULL})" in (again.folder / "around" / "body.md").read_text()
    assert len(book.read().fixes) == 3


def test_without_a_ledger_no_fix_is_recorded_and_old_drafts_are_removed(ported, book):
    first = draft_upstream(ported, "pr", None, None)
    next((ported.root / "rocm-port" / "patches").glob("fancy-raster@*")).unlink()

    again = draft_upstream(ported, "pr", None, None)

    assert first.fixes == again.fixes == {}
    assert not book.path.exists()
    assert not (again.folder / "fancy-raster" / "body.md").exists()
    sealed = {entry.path for entry in again.document.files}
    existing = {path.relative_to(again.folder).as_posix() for path in again.folder.rglob("*") if path.is_file()}
    assert existing == sealed | {"drafts.json"}
