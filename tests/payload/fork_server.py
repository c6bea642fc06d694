"""Answers requests of tests with the payload or a program, each in a fork: torch is imported once for all of them."""

import atexit
import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path

sys.path[:] = sys.path[1:]  # our folder, as the payload does it

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
        look = payload.Look(job["request"])
        look.take()
        Path(job["to"]).write_text(json.dumps(look.answer))


def run_program(job):
    """A Python program that finds torch imported; what it prints goes to a file."""
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
