from __future__ import annotations

import json
import sys

import pytest

from rocm3d.model.errors import UserError
from rocm3d.record.golden import RecordingRequest, read_recording, record

MAKE_OUTPUT_FOLDER = "import pathlib, sys; o = pathlib.Path(sys.argv[1]); o.mkdir(exist_ok=True); "


@pytest.fixture
def program(tmp_path):
    """Records a line of Python; its first argument is the output folder."""

    def run(line: str, **more):
        out = tmp_path / "out"
        request = RecordingRequest((sys.executable, "-c", MAKE_OUTPUT_FOLDER + line, str(out)), outputs=(out,), **more)
        return record(request, tmp_path / "recording", "this machine"), tmp_path / "recording"

    return run


def test_existing_folder_is_refused(tmp_path):
    with pytest.raises(UserError, match="already exists"):
        record(RecordingRequest(("true",)), tmp_path, "m")


def test_folder_without_recording_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"has no recording.json"):
        read_recording(tmp_path)


def test_recording_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "recording.json").write_bytes(b'{"command": "\xff"}')

    with pytest.raises(UserError, match=r"recording.json cannot be read"):
        read_recording(tmp_path)


def test_a_program_that_failed_is_recorded_as_such_and_not_compared(program):
    recording, folder = program("print('why'); sys.exit(3)")

    assert (recording.exit_code, recording.files) == (3, ())
    assert (folder / "output.txt").read_text() == "why\n"
    with pytest.raises(UserError, match="a program that failed"):
        read_recording(folder)


def test_a_program_that_runs_out_of_time_has_no_exit_code(program):
    recording, _ = program("import time; time.sleep(3600)", seconds=0.2)

    assert recording.exit_code is None


def test_files_that_were_changed_since_are_refused(program):
    _, folder = program("(o / 'a.json').write_text('1')")
    (folder / "files" / "a.json").write_text("2")

    with pytest.raises(UserError, match="has changed since it was recorded"):
        read_recording(folder)


@pytest.mark.parametrize("path", ["../outside.json", "/etc/hostname"])
def test_recording_cannot_refer_to_files_outside_its_folder(program, path, tmp_path):
    _, folder = program("(o / 'a.json').write_text('1')")
    (tmp_path / "outside.json").write_text("1")
    recording_path = folder / "recording.json"
    text = json.loads(recording_path.read_text())
    text["files"][0]["path"] = path
    recording_path.write_text(json.dumps(text))

    with pytest.raises(UserError, match="has changed since it was recorded"):
        read_recording(folder)


def test_only_files_that_the_program_wrote_are_recorded(program, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "before.json").write_text("1")
    (tmp_path / "out" / "link.json").symlink_to(tmp_path / "out" / "before.json")

    recording, folder = program("(o / 'b').mkdir(); (o / 'b' / 'new.json').write_text('2')")

    assert [file.name for file in recording.files] == ["b/new.json"]
    assert read_recording(folder) == recording


def test_left_out_files_and_modules_are_listed_with_reasons(program):
    recording, _ = program("(o / 'x.txt').write_text('x'); (o / 'w.pt').write_bytes(b'x')", modules=("Net",))

    left = {entry.name: entry.reason for entry in recording.left_out}
    assert left["x.txt"] == "file type not supported"
    assert "torch" in left["w.pt"]
    assert left["Net"] == "no called module has this class or name"
    assert "everything" in left


def test_torch_file_without_an_interpreter_is_listed_as_left_out(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    request = RecordingRequest(("/bin/sh", "-c", f"echo x > {out}/w.pt"), outputs=(out,))

    recording = record(request, tmp_path / "recording", "m")

    assert recording.left_out[0].reason.startswith("only torch can read this file: pass an interpreter")


def test_same_file_name_in_two_output_folders(tmp_path):
    folders = (tmp_path / "a", tmp_path / "b")
    line = f"import pathlib\nfor f in {[str(folder) for folder in folders]}:\n"
    line += "    pathlib.Path(f).mkdir(); (pathlib.Path(f) / 'same.json').write_text('1')\n"

    recording = record(RecordingRequest((sys.executable, "-c", line), outputs=folders), tmp_path / "recording", "m")

    assert [file.name for file in recording.files] == ["0/same.json", "1/same.json"]


def test_a_recording_below_the_outputs_does_not_record_itself(tmp_path):
    request = RecordingRequest(
        (sys.executable, "-c", f"open({str(tmp_path / 'a.json')!r}, 'w').write('1')"), outputs=(tmp_path,)
    )

    recording = record(request, tmp_path / "recording", "m")

    assert all("recording" not in entry.name for entry in (*recording.files, *recording.left_out))


def test_modules_files_and_the_environment_of_a_torch_program(torch_python, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    line = "import torch, sys; net = torch.nn.Linear(2, 3); torch.save({'y': net(torch.ones(2)).detach()}, sys.argv[1])"
    command = (str(torch_python), "-c", line, str(out / "y.pt"))

    recording = record(RecordingRequest(command, (out,), ("Linear",), seed=7), tmp_path / "recording", "m")

    assert [(file.name, file.dtype) for file in recording.files] == [("Linear[0]", "float32"), ("y.pt:y", "float32")]
    assert len({file.sha256 for file in recording.files}) == 1
    assert recording.environment["torch"].startswith("2.")
    assert recording.seed == 7
