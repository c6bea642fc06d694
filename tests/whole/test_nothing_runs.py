"""Scan and plan execute nothing of the repository: checked by an audit hook in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

WATCHED = textwrap.dedent(
    """
    import json, sys
    from pathlib import Path

    target, seen = sys.argv[1], []

    def hook(event, arguments):
        if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect"):
            seen.append(event)
        elif event == "exec" and str(getattr(arguments[0], "co_filename", "")).startswith(target):
            seen.append("exec of " + arguments[0].co_filename)
        elif event == "import" and str(arguments[1] or "").startswith(target):
            seen.append("import of " + str(arguments[1]))
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(target):
            if isinstance(arguments[1], str) and set(arguments[1]) & set("wax+") and "/.rocm3d/" not in arguments[0]:
                seen.append("write of " + arguments[0])

    from rocm3d.pipeline import Repository, load

    knowledge = load()
    repository = Repository(Path(target), knowledge)
    sys.addaudithook(hook)
    scan = repository.scan()
    repository.plan(knowledge.gpu("gfx942"))
    print(json.dumps({"findings": len(scan.findings), "seen": seen}))
    """
)


def test_scan_and_plan_execute_nothing_of_the_target(example):
    root = example("splat-trainer")
    mark = root / "mark"
    evil = f"open({str(mark)!r}, 'w').write('ran')\n"
    for name in ("setup.py", "conftest.py", "sitecustomize.py", "splat_trainer/__init__.py"):
        hook_file = root / name
        hook_file.write_text(
            evil + (hook_file.read_text(encoding="utf-8") if hook_file.exists() else ""), encoding="utf-8"
        )

    finished = subprocess.run(
        [sys.executable, "-c", WATCHED, str(root)], capture_output=True, text=True, cwd=root.parent, check=False
    )

    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert [] == result["seen"]
    assert result["findings"] > 0
    assert not mark.exists()
