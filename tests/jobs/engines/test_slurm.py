"""A real Slurm of one node, on loopback, runs the same jobs.toml as the other engines."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from contextlib import ExitStack

import pytest
from processes import Program
from waiting import output_of, wait_until

from rocm3d.jobs.engines.slurm import SlurmEngine
from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.specification import read_jobs
from rocm3d.model.errors import MachineError, UserError

engine = pytest.mark.engines
one_slurm = pytest.mark.xdist_group("slurm")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel")
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
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


def output(env: dict[str, str], *command: str) -> str:
    """Output of a Slurm command; empty if it fails."""
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False).stdout.strip()


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """A Slurm of one node; returns the environment variables for its commands."""
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
    files = [f"--{name}-file={root / 'munge' / name}" for name in ("key", "pid", "log", "seed")]
    munged = ["munged", "--foreground", "--force", f"--socket={root / 'munge' / 'socket'}", *files]
    daemons: list[Program] = []
    with ExitStack() as stack:
        for command in (munged, ["slurmctld", "-D"], ["slurmd", "-D"]):
            log = stack.enter_context((root / f"{command[0]}.txt").open("wb"))
            daemons.append(stack.enter_context(Program(command, env=env, stdout=log, stderr=log)))

        def is_idle() -> bool:
            for daemon in daemons:
                if daemon.poll() is not None:
                    pytest.fail(f"{daemon.args[0]} ended: {(root / f'{daemon.args[0]}.txt').read_text()[-2000:]}")
            return output(env, "sinfo", "-h", "-o", "%T") == "idle"

        wait_until(is_idle, f"an idle node of the Slurm in {root}")
        yield env


def test_without_a_time_limit_nothing_is_submitted(jobs_folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", "/usr/bin/{}".format)
    jobs = read_jobs(jobs_folder.write('[run]\nengine = "slurm"\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    with pytest.raises(UserError, match="needs a timeout for every job"):
        SlurmEngine(jobs, run_folder(jobs.path, None))


def test_missing_slurm_is_a_machine_error(jobs_folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", {}.get)
    jobs = read_jobs(jobs_folder.write('[run]\nengine = "slurm"\ntimeout = 9\n[[job]]\nid = "a"\ncommand = ["true"]\n'))
    with pytest.raises(MachineError, match="needs srun and sbatch"):
        SlurmEngine(jobs, run_folder(jobs.path, None))


@engine
@one_slurm
def test_slurm_runs_the_same_jobs(slurm, same_jobs, jobs_folder):
    masked = {**slurm, "ROCR_VISIBLE_DEVICES": "0", "HIP_VISIBLE_DEVICES": "0"}

    # Only one of the masks reaches the job.
    assert same_jobs.run("slurm", masked) == [[f"w{name}", str(jobs_folder.root), "0", "none"] for name in "abc"]


@engine
@one_slurm
def test_jobs_that_slurm_has_are_taken_over_by_the_next_runner_and_can_be_cancelled(slurm, jobs_folder):
    jobs_folder.write(
        '[run]\nengine = "slurm"\ntimeout = "30m"\ngrace = 0\n[[job]]\nid = "a"\ncommand = ["sleep", "3600"]\n'
        '[[job]]\nid = "b"\ncommand = ["sh", "-c", "until [ -e go ]; do sleep 0.1; done; echo b >> out"]\n'
    )
    first = jobs_folder.start(env=slurm)
    wait_until((jobs_folder.run / "status" / "b.1.running").exists, "job b, started by Slurm")
    first.kill()
    output_of(first)
    second = jobs_folder.start("--format", "json", env=slurm)
    wait_until(lambda: jobs_folder.status()["runner"] == second.pid, "the second runner")
    (jobs_folder.root / "go").touch()
    wait_until((jobs_folder.run / "status" / "b.1").exists, "the end of job b")
    assert jobs_folder.call("cancel", "a", env=slurm)[0] == 0
    out, err = output_of(second)

    assert second.returncode == 1, out + err
    assert jobs_folder.states() == {"a": "cancelled", "b": "done"}
    assert (jobs_folder.root / "out").read_text() == "b\n"
    jobs_folder.wait_until_quiet()
