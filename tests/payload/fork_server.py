"""Runs probes and programs for tests, each in a fork, so that torch is imported only once."""

import atexit
import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path

sys.path[:] = sys.path[1:]  # without our own folder, like the payload

import torch  # noqa: E402

spec = importlib.util.spec_from_file_location("probe_backend", sys.argv[1])
payload = importlib.util.module_from_spec(spec)
spec.loader.exec_module(payload)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(job):
    torch.set_num_threads(1)
    sys.path[:0] = job["path"]
    if "program" in job:
        run_program(job)
    else:
        probe = payload.BackendProbe(job["request"])
        probe.run()
        Path(job["to"]).write_text(json.dumps(probe.answer))


def run_program(job):
    """Run a program that has torch imported; its output goes to a file."""
    out = os.open(job["to"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.environ.update(job["env"])
    try:
        exec(compile(job["program"], "<program>", "exec"), {"__name__": "__main__"})
    except Exception:  # noqa: BLE001
        traceback.print_exc(file=sys.stdout)
    atexit._run_exitfuncs()
    sys.stdout.flush()


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            answer(json.loads(line))
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.waitpid(child, 0)
    answers.write("done\n")
    answers.flush()
