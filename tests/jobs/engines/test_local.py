"""Jobs on this machine, on GPUs of a recorded one: masks, locks across runs, free memory, and a lost launcher."""

from __future__ import annotations

import os
import threading
from contextlib import closing

import pytest
from processes import kill
from waiting import wait_for_thread

from rocm3d.jobs.course import Course
from rocm3d.jobs.engines.local import Local
from rocm3d.jobs.folder import RunFolder, run_folder
from rocm3d.jobs.journal import Journal
from rocm3d.jobs.runner import Runner
from rocm3d.jobs.specification import read
from rocm3d.model.failure import MachineError, UserError

SHOW = 'command = ["sh", "-c", "env | grep VISIBLE_DEVICES"]\n'


@pytest.fixture
def run_on(machine, jobs_folder, tmp_path, monkeypatch):
    """Runs the jobs of a file on the GPUs of a recorded machine; returns their progress and the folder."""
    monkeypatch.setattr("rocm3d.jobs.slots._LOCKS", (tmp_path,))
    root = machine()

    def run(text: str, name: str = "jobs", **options: object) -> tuple[dict[str, Course], RunFolder]:
        path = jobs_folder.root / f"{name}.toml"
        path.write_text(text)
        jobs = read(path)
        folder = run_folder(path, None)
        courses = {job.id: Course(job.id, job.digest) for job in jobs.jobs}
        with folder.held() as lock, closing(Journal(folder.journal)) as journal, Local(jobs, lock, root) as engine:
            Runner(jobs, folder, journal, courses, engine, **options).run()
        return courses, folder

    return run


def test_a_gpu_that_is_not_here_is_what_the_machine_lacks(run_on):
    with pytest.raises(MachineError, match=r"0000:99:00\.0 is not on this machine"):
        run_on('[run]\ngpus = ["0000:99:00.0"]\n[[job]]\nid = "a"\n' + SHOW)


def test_a_job_that_no_gpu_can_hold_is_refused(run_on):
    with pytest.raises(UserError, match=r"needs 80\.0 GiB"):
        run_on('[run]\nfree-vram = "80 GiB"\n[[job]]\nid = "a"\n' + SHOW)


def test_each_job_has_exactly_one_mask_with_its_own_gpu(run_on, monkeypatch):
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "0,1,2,3")
    text = '[run]\ngpus = ["2d:00.0", "0001:83:00.0"]\n[[job]]\nid = "{}"\neach = ["a", "b"]\n'
    courses, folder = run_on(text + SHOW)
    assert [course.slot for course in courses.values()] == ["GPU-ab00000000000002", "0001:83:00.0"]
    assert folder.log("a", 1).read_text() == "ROCR_VISIBLE_DEVICES=GPU-ab00000000000002\n"
    assert folder.log("b", 1).read_text() == "ROCR_VISIBLE_DEVICES=3\n"


def test_the_gpu_of_the_processor_is_never_used_unasked(run_on):
    text = '[[job]]\nid = "{}"\neach = ["a", "b", "c", "d", "e", "f"]\ncommand = ["true"]\n'
    courses, _ = run_on(text)
    assert {course.slot for course in courses.values()} <= {
        "GPU-ab00000000000001",
        "GPU-ab00000000000002",
        "0001:83:00.0",
    }


def test_two_runs_never_share_a_gpu(run_on, jobs_folder):
    """A job fails if another one runs on its GPU, and keeps the GPU until the other run found it busy."""
    script = "mkdir taken || { touch refused; exit 1; }; until [ -e refused ]; do sleep 0.05; done; rmdir taken"
    text = (
        f'[run]\ngpus = ["03:00.0"]\n[[job]]\nid = "{{}}"\neach = ["a", "b", "c"]\ncommand = ["sh", "-c", "{script}"]\n'
    )

    def note_refusal(runner: Runner) -> None:
        if runner._taken:
            (jobs_folder.root / "refused").touch()

    found: list[dict[str, Course]] = []
    threads = [
        threading.Thread(target=lambda name=name: found.append(run_on(text, name, watch=note_refusal)[0]), daemon=True)
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        wait_for_thread(thread)
    assert [course.state for courses in found for course in courses.values()] == ["done"] * 6


def test_as_many_as_asked_for_run_on_one_gpu(run_on):
    text = (
        '[run]\ngpus = ["03:00.0"]\nper-gpu = 3\n[[job]]\nid = "{}"\neach = ["a", "b", "c", "d"]\ncommand = ["true"]\n'
    )
    courses, _ = run_on(text)
    assert {course.slot for course in courses.values()} <= {f"GPU-ab00000000000001/{number}" for number in (1, 2, 3)}
    assert len({entry.slot for entry in list(courses.values())[:3]}) == 3


def test_a_job_waits_until_memory_is_free_and_a_smaller_one_goes_first(run_on, jobs_folder, tmp_path):
    used = tmp_path / "machine/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used"
    used.write_text(f"{20 << 30}\n")

    def free_memory_after_the_small_one(runner: Runner) -> None:
        if runner.courses["small"].state == "done":
            used.write_text("0\n")

    text = (
        '[run]\ngpus = ["03:00.0"]\n'
        '[[job]]\nid = "large"\nfree-vram = "20 GiB"\ncommand = ["sh", "-c", "echo large >> order"]\n'
        '[[job]]\nid = "small"\nfree-vram = "1 GiB"\ncommand = ["sh", "-c", "echo small >> order"]\n'
    )
    courses, _ = run_on(text, watch=free_memory_after_the_small_one)
    assert (jobs_folder.root / "order").read_text().split() == ["small", "large"]
    assert {course.state for course in courses.values()} == {"done"}


def test_a_launcher_that_is_killed_is_called_again(run_on, jobs_folder):
    """The first attempts end with their launcher and not by themselves."""
    killed: list[int] = []

    def kill_launcher(runner: Runner) -> None:
        if not killed and all((jobs_folder.root / f"begun-{job}").exists() for job in "ab"):
            killed.extend(jobs_folder.launchers(os.getpid()))
            kill(killed)

    script = "if [ -e begun-{} ]; then exit 0; fi; touch begun-{}; sleep 3600 & wait"
    text = f'[run]\ngpus = []\nslots = 2\n[[job]]\nid = "{{}}"\neach = ["a", "b"]\ncommand = ["sh", "-c", "{script}"]\n'
    courses, _ = run_on(text, watch=kill_launcher)
    assert killed
    assert {(course.state, course.attempts, course.interruptions) for course in courses.values()} == {("done", 2, 1)}
    jobs_folder.wait_until_quiet()


def test_the_processor_is_used_where_there_is_no_gpu(jobs_folder, tmp_path):
    jobs = read(jobs_folder.write('[run]\nslots = 3\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    engine = Local(jobs, 0, tmp_path)
    assert [slot.name for slot in engine.slots()] == ["cpu-1", "cpu-2", "cpu-3"]
    assert list(engine.notes()) == ["no AMD GPU found: running on the CPU, slots: 3"]


def test_the_same_jobs(same_jobs, jobs_folder):
    assert same_jobs.run("local", dict(os.environ)) == [
        [f"w{name}", str(jobs_folder.root), "none", "none"] for name in "abc"
    ]
