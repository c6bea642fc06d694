"""jobs.toml: errors are one line, and settings in [run] apply to every job."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.jobs.specification import Jobs, RunSettings, jobs_from_commands, parse_memory, parse_seconds, read_jobs
from rocm3d.model.errors import ExitCode, UserError

JOB = '[[job]]\nid = "a"\ncommand = ["true"]\n'


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "job: Field required"),
        ("x = [", "is not valid TOML"),
        ("\0", "TOML"),
        ("gpus = 1\n" + JOB, "gpus: Extra inputs"),
        ("[run]\ntimout = 3\n" + JOB, "run.timout: Extra inputs"),
        ("[run]\ntimeout = 'soon'\n" + JOB, "run.timeout: .*'soon' is not a duration, for example 600s"),
        ("[run]\ntimeout = 0\n" + JOB, "run.timeout: .*greater than 0"),
        ("[run]\ntimeout = true\n" + JOB, "run.timeout: .*must be a number"),
        ("[run]\ntimeout = nan\n" + JOB, "run.timeout"),
        ("[run]\nretries = -1\n" + JOB, "run.retries"),
        ("[run]\nslots = 0\n" + JOB, "run.slots"),
        ("[run]\nper-gpu = 1.5\n" + JOB, "run.per-gpu"),
        ("[run]\nengine = 'pbs'\n" + JOB, "run.engine"),
        ("[run]\nfree-vram = '8 apples'\n" + JOB, "run.free-vram: .*not a memory size"),
        ("[run]\nenv = { 'A=B' = 'x' }\n" + JOB, "run.env"),
        ('[[job]]\nid = "a"\ncommand = "true"\n', "job.0.command"),
        ('[[job]]\nid = "a"\ncommand = []\n', "job.0.command"),
        ('[[job]]\nid = "a"\ncommand = ["a\\u0000b"]\n', "job.0.command.0"),
        ('[[job]]\nid = "../a"\ncommand = ["true"]\n', "id: String should match"),
        ('[[job]]\nid = "a"\neach = ["1"]\ncommand = ["true"]\n', "needs a {} for its value"),
        ('[[job]]\nid = "x-{}"\neach = ["a/b"]\ncommand = ["true"]\n', "id: String should match"),
        (JOB + JOB, "two jobs have the id a"),
        (JOB + JOB.replace('"a"', '"A"'), "two jobs have the id A"),
    ],
)
def test_error_is_one_line_with_a_hint(jobs_folder, text, match):
    with pytest.raises(UserError, match=match) as failure:
        read_jobs(jobs_folder.write(text))
    assert failure.value.exit_code == ExitCode.USAGE
    assert "\n" not in failure.value.message
    assert failure.value.hint


def test_missing_file_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        read_jobs(tmp_path / "jobs.toml")


def read_or_error(path) -> Jobs | str:
    """What is read, or the line that refuses it; anything else escapes."""
    try:
        return read_jobs(path)
    except UserError as failure:
        return failure.message


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("jobs") / "jobs.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    assert isinstance(read_or_error(path), (Jobs, str))


@given(st.dictionaries(st.sampled_from(["id", "command", "each", "env", "timeout", "success"]), st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.lists(st.text(max_size=5), max_size=3)
)))  # fmt: skip
def test_any_value_is_read_or_refused(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("jobs") / "jobs.toml"
    path.write_text("[[job]]\n" + "".join(f"{name} = {_toml(value)}\n" for name, value in values.items()))
    assert isinstance(read_or_error(path), (Jobs, str))


def _toml(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(bool(value)).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value) if isinstance(value, (int, float)) else '"' + "".join(f"\\U{ord(c):08x}" for c in value) + '"'


def test_settings_of_a_job_override_those_of_run(jobs_folder):
    jobs = read_jobs(
        jobs_folder.write(
            '[run]\ntimeout = "2m"\nretries = 2\nfree-vram = "8 GiB"\nenv = { A = "1", B = "2" }\nfolder = "sub"\n'
            '[[job]]\nid = "a"\ncommand = ["true"]\n'
            '[[job]]\nid = "b"\ncommand = ["true"]\ntimeout = "1.5h"\nretries = 0\n'
            'env = { B = "3" }\nsuccess = [0, 1]\n'
        )
    ).jobs
    assert [job.timeout for job in jobs] == [120.0, 5400.0]
    assert [job.retries for job in jobs] == [2, 0]
    assert [job.env for job in jobs] == [{"A": "1", "B": "2"}, {"A": "1", "B": "3"}]
    assert [job.success for job in jobs] == [(0,), (0, 1)]
    assert {job.folder for job in jobs} == {str(jobs_folder.root / "sub")}
    assert {job.free_vram for job in jobs} == {8 << 30}


def test_each_expands_to_several_jobs(jobs_folder):
    text = (
        '[[job]]\nid = "s-{}"\neach = ["a", "b"]\nfolder = "{}"\ncommand = ["run", "--scene={}"]\nenv = { S = "{}" }\n'
    )
    jobs = read_jobs(jobs_folder.write(text)).jobs
    assert [job.id for job in jobs] == ["s-a", "s-b"]
    assert jobs[1].command == ("run", "--scene=b")
    assert jobs[1].folder == str(jobs_folder.root / "b")
    assert jobs[1].env == {"S": "b"}


def test_braces_without_each_are_literal(jobs_folder):
    assert read_jobs(jobs_folder.write('[[job]]\nid = "a"\ncommand = ["awk", "{}"]\n')).jobs[0].command == ("awk", "{}")


def test_digest_depends_on_the_command_but_not_on_limits(jobs_folder):
    first = read_jobs(jobs_folder.write(JOB)).jobs[0].digest
    assert read_jobs(jobs_folder.write("[run]\ntimeout = 9\n" + JOB)).jobs[0].digest == first
    assert read_jobs(jobs_folder.write(JOB.replace("true", "false"))).jobs[0].digest != first


def test_jobs_without_a_file(tmp_path):
    jobs = jobs_from_commands(tmp_path / "matrix", RunSettings(slots=2), {"a": ("true",)})
    assert jobs.jobs[0].command == ("true",)
    assert jobs.run.slots == 2


def test_times_and_amounts():
    assert [parse_seconds(text) for text in ("90", "90s", "1.5m", "2 h", "1d")] == [90, 90, 90, 7200, 86400]
    assert [parse_memory(text) for text in ("1K", "512 MiB", "8GB", "1.5 TiB")] == [1024, 512 << 20, 8 << 30, 3 << 39]
