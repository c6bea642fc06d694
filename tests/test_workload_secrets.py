"""No byte of a finished bundle is part of a secret, wherever the secret was: argument, variable, output, file name."""

from __future__ import annotations

import itertools
import json
import random
import sys
from pathlib import Path

import pytest
from secret_shapes import HARMLESS, secret_shapes

from rocm3d.evidence.check import check_seal
from rocm3d.model.errors import UserError
from rocm3d.model.run import RunRecord
from rocm3d.workload import RUN, RunRequest, new_run_folder, read_expectations, run_workload

SHAPES = list(secret_shapes())
BATCHES = [SHAPES[start::10] for start in range(10)]
# Writes a file in chunks of random size, then files with these names, and exits with 3 after a last line.
PROGRAM = """
import json, os, random, sys
job = json.load(open(sys.argv[1]))
chance, data = random.Random(7), job["output"].encode()
while data:
    size = chance.choice([1, 5, 17, 200, 4000])
    os.write(chance.choice([1, 2]), data[:size])
    data = data[size:]
for name in job["names"]:
    with open(name, "w") as file:
        file.write("ply\\nformat ascii 1.0\\nelement vertex 1\\n")
        file.write("property float x\\nproperty float y\\nproperty float z\\nend_header\\n0 0 0\\n")
os.write(2, job["last"].encode())
sys.exit(3)
"""


def bundle_bytes(folder: Path) -> bytes:
    """Names and contents of all files of a bundle."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\0".join(part for path in files for part in (str(path.relative_to(folder)).encode(), path.read_bytes()))


@pytest.mark.parametrize("batch", range(len(BATCHES)))
def test_no_secret_is_in_any_byte_of_the_bundle(batch, knowledge, tmp_path, monkeypatch):
    shapes, chance = BATCHES[batch], random.Random(batch)
    secrets = {part for _, secret, _ in shapes for part in secret.splitlines()}
    arguments = [word for _, secret, contexts in shapes for make in contexts.argv for word in make(secret)]
    texts = [make(secret) for _, secret, contexts in shapes for make in contexts.output]
    chance.shuffle(texts)
    variables = itertools.chain.from_iterable(((name, s) for name in c.env) for _, s, c in shapes)
    for number, (name, secret) in enumerate(variables):
        # With HIP_ in front the record contains it; each name once.
        monkeypatch.setenv(f"HIP_{number}_{name}" if number % 2 else f"{name}_{number}", secret)
    # A value without a format is known by the arguments and variables.
    known = {s for _, s, contexts in shapes if contexts.argv or contexts.env}
    names = [f"out-{secret}.ply" for secret in sorted(known) if "/" not in secret and len(secret) < 200]
    (tmp_path / "job.json").write_text(
        json.dumps({"output": "\n".join(texts) + "\n", "names": names, "last": texts[-1].splitlines()[-1]})
    )
    into = new_run_folder(tmp_path, "a")
    command = (sys.executable, "-c", PROGRAM, "job.json", *arguments)
    request = RunRequest(command, f"run {min(known)}", tmp_path, 600.0, (tmp_path,))

    record = run_workload(request, into, knowledge, read_expectations(["exit_code = 0"], knowledge))

    assert record.status == "failed"
    assert len(record.artifacts) == len(names)
    assert check_seal(into).altered == ()
    content = bundle_bytes(into)
    leaked = [
        secret for secret in secrets if secret.encode() in content or json.dumps(secret)[1:-1].encode() in content
    ]
    assert leaked == []
    assert len(list((into / "files").iterdir())) == len(names)


def test_everything_else_is_kept(knowledge, tmp_path):
    """Digests, commits, versions, paths and plain hex, in arguments and output; the terminal has the original bytes."""
    terminal = (tmp_path / "terminal").open("wb")
    into = new_run_folder(tmp_path, "a")
    lines = [line for text in HARMLESS for line in text.splitlines()]
    command = (sys.executable, "-c", "import sys; print('\\n'.join(sys.argv[1:])); print('token=aB3dE5gH7jK9')", *lines)

    record = run_workload(
        RunRequest(command, "a", tmp_path, 600.0, (tmp_path / "none",)), into, knowledge, (), terminal
    )
    terminal.close()

    assert record.command == (*command[:2], command[2].replace("aB3dE5gH7jK9", "(redacted)"), *lines)
    assert (into / "output.txt").read_text().splitlines() == [*lines, "token=(redacted)"]
    assert (tmp_path / "terminal").read_text().splitlines() == [*lines, "token=aB3dE5gH7jK9"]
    assert RunRecord.from_json((into / RUN).read_text(), RUN) == record


def test_an_artifact_with_a_secret_stops_the_seal(knowledge, tmp_path):
    program = (
        "header = 'ply\\nformat ascii 1.0\\ncomment ghp_' + 'aB3dE5gH7jK9' * 3 + '\\nelement vertex 1\\n'\n"
        "header += 'property float x\\nproperty float y\\nproperty float z\\nend_header\\n0 0 0\\n'\n"
        "open('good.ply', 'w').write(header)\n"
    )
    into = new_run_folder(tmp_path, "a")
    with pytest.raises(UserError, match=r"files/good\.ply, line 3: contains a github token"):
        run_workload(RunRequest((sys.executable, "-c", program), "a", tmp_path, 600.0), into, knowledge)

    assert not (into / "files" / "good.ply").exists()
    assert (tmp_path / "good.ply").exists()
    with pytest.raises(UserError, match="is incomplete"):
        check_seal(into)


def test_kept_output_is_bounded_and_the_record_says_so(knowledge, tmp_path):
    into = new_run_folder(tmp_path, "a")
    program = "import os\nfor n in range(300): os.write(1, b'x' * 99999 + b'\\n')\nprint('last words')"
    record = run_workload(RunRequest((sys.executable, "-c", program), "a", tmp_path, 600.0), into, knowledge)

    assert record.output_left_out == 30_000_011 - 8 * 1024 * 1024
    output = (into / "output.txt").read_bytes()
    assert len(output) < 8.1 * 1024 * 1024
    assert f"{record.output_left_out} bytes of output are left out".encode() in output
    assert output.endswith(b"last words\n")
