"""Runs rocm3d commands for tests, each in a process forked from one that has imported everything.

Start-up, imports and reading the shipped knowledge are most of the time of a small command. What a command itself
loads is tested by tests/project/test_start_up.py.

A request is a line of JSON on standard input: arguments, cwd, env, and the files for out and err. The response is a
line with the exit code.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys

import rocm3d
from rocm3d.knowledge import load as knowledge_loader


def load_knowledge_once() -> None:
    """A load without an overlay returns the records that were read before the fork."""
    load = knowledge_loader.load
    shipped = load()
    for kind in knowledge_loader.KINDS:
        len(getattr(shipped, kind))
    knowledge_loader.load = lambda overlay=None, cache=None: shipped if overlay is None else load(overlay, cache)


def import_everything() -> None:
    for module in pkgutil.walk_packages(rocm3d.__path__, "rocm3d."):
        # Payloads run in the user's environment and are never imported.
        if not module.name.startswith("rocm3d.payload"):
            importlib.import_module(module.name)


def become(request: dict) -> None:
    """Take over the environment, the folder and the streams of the request."""
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, request["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.argv[1:] = request["arguments"]


def serve() -> dict | None:
    """Returns the request in the forked process that runs it; None in the server, at the end."""
    requests, exit_codes = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in requests:
        child = os.fork()
        if child == 0:
            return json.loads(line)
        _, status = os.waitpid(child, 0)
        exit_codes.write(f"{os.waitstatus_to_exitcode(status)}\n")
        exit_codes.flush()
    return None


if __name__ == "__main__":
    load_knowledge_once()
    import_everything()
    command_request = serve()
    if command_request is not None:
        become(command_request)
        from rocm3d.cli.main import main

        main()
