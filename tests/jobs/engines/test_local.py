"""Jobs on this machine, on GPUs of a recorded one: masks, locks across runs, free memory, and a lost launcher."""

from __future__ import annotations

import os
import threading
from contextlib import closing

import pytest
from processes import kill
from waiting import wait_for_thread

from rocm3d.jobs.engines.local import LocalEngine
from rocm3d.jobs.folder import RunFolder, run_folder
from rocm3d.jobs.job_progress import JobProgress
from rocm3d.jobs.journal import JobJournal
from rocm3d.jobs.runner import JobRunner
from rocm3d.jobs.specification import read_jobs
from rocm3d.model.errors import MachineError, UserError

SHOW = 'command = ["sh", "-c", "env | grep VISIBLE_DEVICES"]\n'


@pytest.fixture
def run_on(machine, jobs_folder, tmp_path, monkeypatch):
    """Runs the jobs of a file on the GPUs of a recorded machine; returns their progress and the folder."""
    monkeypatch.setattr("rocm3d.jobs.slots._LOCK_FOLDERS", (tmp_path,))
    root = machine()

    def run(text: str, name: str = "jobs", **options: object) -> tuple[dict[str, JobProgress], RunFolder]:
        path = jobs_folder.root / f"{name}.toml"
        path.write_text(text)
        jobs = read_jobs(path)
        folder = run_folder(path, None)
        progress = {job.id: JobProgress(job.id, job.digest) for job in jobs.jobs}
        with (
            folder.hold_lock() as lock,
            closing(JobJournal(folder.journal)) as journal,
            LocalEngine(jobs, lock, root) as engine,
        ):
            JobRunner(jobs, folder, journal, progress, engine, **options).run()
        return progress, folder

    return run


def test_missing_gpu_is_a_machine_error(run_on):
    with pytest.raises(MachineError, match=r"0000:99:00\.0 is not on this machine"):
        run_on('[run]\ngpus = ["0000:99:00.0"]\n[[job]]\nid = "a"\n' + SHOW)


def test_a_job_that_no_gpu_can_hold_is_refused(run_on):
    with pytest.raises(UserError, match=r"needs 80\.0 GiB"):
        run_on('[run]\nfree-vram = "80 GiB"\n[[job]]\nid = "a"\n' + SHOW)


def test_each_job_has_exactly_one_mask_with_its_own_gpu(run_on, monkeypatch):
    for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "0,1,2,3")
    text = '[run]\ngpus = ["2d:00.0", "0001:83:00.0"]\n[[job]]\nid = "{}"\neach = ["a", "b"]\n'
    progress, folder = run_on(text + SHOW)
    assert [job.slot for job in progress.values()] == ["GPU-ab00000000000002", "0001:83:00.0"]
    assert folder.log("a", 1).read_text() == "ROCR_VISIBLE_DEVICES=GPU-ab00000000000002\n"
    assert folder.log("b", 1).read_text() == "ROCR_VISIBLE_DEVICES=3\n"


def test_integrated_gpu_is_not_used_by_default(run_on):
    text = '[[job]]\nid = "{}"\neach = ["a", "b", "c", "d", "e", "f"]\ncommand = ["true"]\n'
    progress, _ = run_on(text)
    assert {job.slot for job in progress.values()} <= {
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

    def note_refusal(runner: JobRunner) -> None:
        if runner._busy_until:
            (jobs_folder.root / "refused").touch()

    results: list[dict[str, JobProgress]] = []
    threads = [
        threading.Thread(
            target=lambda name=name: results.append(run_on(text, name, watch=note_refusal)[0]), daemon=True
        )
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        wait_for_thread(thread)
    assert [job.state for progress in results for job in progress.values()] == ["done"] * 6


def test_per_gpu_jobs_share_one_gpu(run_on):
    text = (
        '[run]\ngpus = ["03:00.0"]\nper-gpu = 3\n[[job]]\nid = "{}"\neach = ["a", "b", "c", "d"]\ncommand = ["true"]\n'
    )
    progress, _ = run_on(text)
    assert {job.slot for job in progress.values()} <= {f"GPU-ab00000000000001/{number}" for number in (1, 2, 3)}
    assert len({entry.slot for entry in list(progress.values())[:3]}) == 3


def test_a_job_waits_until_memory_is_free_and_a_smaller_one_goes_first(run_on, jobs_folder, tmp_path):
    used = tmp_path / "machine/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used"
    used.write_text(f"{20 << 30}\n")

    def free_memory_after_the_small_one(runner: JobRunner) -> None:
        if runner.progress["small"].state == "done":
            used.write_text("0\n")

    text = (
        '[run]\ngpus = ["03:00.0"]\n'
        '[[job]]\nid = "large"\nfree-vram = "20 GiB"\ncommand = ["sh", "-c", "echo large >> order"]\n'
        '[[job]]\nid = "small"\nfree-vram = "1 GiB"\ncommand = ["sh", "-c", "echo small >> order"]\n'
    )
    progress, _ = run_on(text, watch=free_memory_after_the_small_one)
    assert (jobs_folder.root / "order").read_text().split() == ["small", "large"]
    assert {job.state for job in progress.values()} == {"done"}


def test_killed_launcher_is_restarted(run_on, jobs_folder):
    """The first attempts end with their launcher and not by themselves."""
    killed: list[int] = []

    def kill_launcher(runner: JobRunner) -> None:
        if not killed and all((jobs_folder.root / f"begun-{job}").exists() for job in "ab"):
            killed.extend(jobs_folder.launchers(os.getpid()))
            kill(killed)

    script = "if [ -e begun-{} ]; then exit 0; fi; touch begun-{}; sleep 3600 & wait"
    text = f'[run]\ngpus = []\nslots = 2\n[[job]]\nid = "{{}}"\neach = ["a", "b"]\ncommand = ["sh", "-c", "{script}"]\n'
    progress, _ = run_on(text, watch=kill_launcher)
    assert killed
    assert {(entry.state, entry.attempts, entry.interruptions) for entry in progress.values()} == {("done", 2, 1)}
    jobs_folder.wait_until_quiet()


def test_jobs_run_on_the_cpu_without_a_gpu(jobs_folder, tmp_path):
    jobs = read_jobs(jobs_folder.write('[run]\nslots = 3\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    engine = LocalEngine(jobs, 0, tmp_path)
    assert [slot.name for slot in engine.slots()] == ["cpu-1", "cpu-2", "cpu-3"]
    assert list(engine.notes()) == ["no AMD GPU found: running on the CPU, slots: 3"]


def test_the_same_jobs(same_jobs, jobs_folder):
    assert same_jobs.run("local", dict(os.environ)) == [
        [f"w{name}", str(jobs_folder.root), "none", "none"] for name in "abc"
    ]
