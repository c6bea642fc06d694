"""A real Slurm of one node, on loopback, runs the same jobs.toml as the other engines."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from rocm3d.jobs.engines.slurm import Slurm
from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.specification import read
from rocm3d.model.failure import MachineLacks, UserError

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel")
SECONDS = 120
SETTINGS = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=tests Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in sockets]


def daemon(stack: ExitStack, log: Path, *command: str, env: dict[str, str] | None = None) -> None:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=env, start_new_session=True)
    stack.callback(end, process)


def end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The environment in which sbatch finds it."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not run: {', '.join(missing)} is not installed; Debian's slurm-wlm and munge have it")
    root = tmp_path_factory.mktemp("slurm")
    for name in ("munge", "state", "spool"):
        (root / name).mkdir(mode=0o700)
    key = root / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    host, cpus = socket.gethostname().partition(".")[0], os.cpu_count()
    settings = SETTINGS.format(host=host, user=getpass.getuser(), root=root, ports=free_ports(2), cpus=cpus)
    (root / "slurm.conf").write_text(settings)
    env = {**os.environ, "SLURM_CONF": str(root / "slurm.conf")}
    with ExitStack() as stack:
        files = [f"--{name}-file={root / 'munge' / name}" for name in ("key", "pid", "log", "seed")]
        socket_file = f"--socket={root / 'munge' / 'socket'}"
        daemon(stack, root / "munged.txt", "munged", "--foreground", "--force", socket_file, *files)
        for name in ("slurmctld", "slurmd"):
            daemon(stack, root / f"{name}.txt", name, "-D", env=env)
        began, state = time.monotonic(), ""
        while state != "idle" and time.monotonic() - began < SECONDS:
            time.sleep(0.2)
            asked = subprocess.run(["sinfo", "-h", "-o", "%T"], env=env, capture_output=True, text=True, check=False)
            state = asked.stdout.strip()
        if state != "idle":
            pytest.skip(f"not run: Slurm did not come up within {SECONDS} s; its node is {state or 'unknown'}")
        yield env
        # What a failed test left in the queue would outlive the daemons.
        subprocess.run(["scancel", "--user", getpass.getuser()], env=env, check=False)
        for _ in range(100):
            if not subprocess.run(["squeue", "-h"], env=env, capture_output=True, check=False).stdout:
                break
            time.sleep(0.1)


def test_without_a_time_limit_nothing_is_submitted(yard, monkeypatch):
    monkeypatch.setattr(shutil, "which", "/usr/bin/{}".format)
    jobs = read(yard.write('[run]\nengine = "slurm"\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    with pytest.raises(UserError, match="needs a timeout for every job"):
        Slurm(jobs, run_folder(jobs.path, None))


def test_without_slurm_it_is_what_the_machine_lacks(yard, monkeypatch):
    monkeypatch.setattr(shutil, "which", {}.get)
    jobs = read(yard.write('[run]\nengine = "slurm"\ntimeout = 9\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    with pytest.raises(MachineLacks, match="needs srun and sbatch"):
        Slurm(jobs, run_folder(jobs.path, None))


def test_slurm_runs_the_same_jobs(slurm, same_jobs, yard):
    masked = {**slurm, "ROCR_VISIBLE_DEVICES": "0", "HIP_VISIBLE_DEVICES": "0"}

    # Of the masks that reach the job one is left.
    assert same_jobs("slurm", masked) == [[f"w{name}", str(yard.root), "0", "none"] for name in "abc"]


def test_jobs_that_slurm_has_are_taken_over_by_the_next_runner_and_can_be_cancelled(slurm, yard):
    yard.write(
        '[run]\nengine = "slurm"\ntimeout = "5m"\ngrace = 0\n[[job]]\nid = "a"\ncommand = ["sleep", "200"]\n'
        '[[job]]\nid = "b"\ncommand = ["sh", "-c", "sleep 3; echo b >> out"]\n'
    )
    first = yard.start(env=slurm)
    yard.waits_for((yard.run / "status" / "b.1.running").exists)
    first.kill()
    first.communicate(timeout=20)
    second = yard.start("--format", "json", env=slurm)
    yard.waits_for(lambda: yard.status()["runner"] == second.pid)
    yard.waits_for((yard.run / "status" / "b.1").exists)
    assert yard.call("cancel", "a", env=slurm)[0] == 0
    out, err = second.communicate(timeout=60)

    assert second.returncode == 1, out + err
    assert yard.states() == {"a": "cancelled", "b": "done"}
    assert (yard.root / "out").read_text() == "b\n"
    assert yard.is_quiet()
