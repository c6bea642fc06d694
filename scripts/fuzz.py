"""Fuzzes all code that reads untrusted bytes: every manifest reader, both parsers with all detectors, ignore comments,
isolation proof, configuration, knowledge loader and artifact readers; `fuzz_targets.py` has the targets.

    python scripts/fuzz.py --seconds 600              every target in turn, with equal time
    python scripts/fuzz.py Dockerfile --seconds 60    one target
    python scripts/fuzz.py Dockerfile --input FILE    repeat one input, with its traceback

An input counts as a crash if an exception other than UserError escapes, if a result changes in a JSON round trip, or if
it takes more than ten seconds or 2 GB. Crashes, collected inputs and a log are in build/fuzz/TARGET. Exit code 1 after
a crash, 4 if atheris is not installed (`make fuzz` installs it; Linux only).
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "fuzz"
INSTRUMENTED = ["rocm3d", "ruamel.yaml", "pip_requirements_parser", "plyfile", "trimesh"]
SECONDS_PER_INPUT, MEGABYTES = 10, 2048


def module() -> Any:
    """The targets. Imported late, so that the fuzzer can instrument the import."""
    return importlib.import_module("fuzz_targets")


def fuzz(target: str, seconds: int) -> None:
    """Fuzz one target in this process, which the fuzzer ends."""
    try:
        atheris = importlib.import_module("atheris")
    except ModuleNotFoundError:
        print("atheris is not installed. Run pip install -e '.[fuzz]'", file=sys.stderr)
        sys.exit(4)
    with atheris.instrument_imports(include=INSTRUMENTED):
        fuzz_targets = module()
        function = fuzz_targets.targets()[target]  # walks the packages, which imports every reader and detector
        words, seeds = fuzz_targets.dictionary_words(), fuzz_targets.seeds(target)
        for seed in seeds:
            function(seed)  # readers import libraries on first use; the fuzzer can instrument them only now
    folder = FOLDER / target
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)
    quoted = ("".join(f"\\x{byte:02x}" for byte in word) for word in sorted(words))
    (folder / "words").write_text("".join(f'"{word}"\n' for word in quoted), encoding="ascii")
    options = {
        "max_total_time": seconds, "timeout": SECONDS_PER_INPUT, "rss_limit_mb": MEGABYTES,
        "max_len": fuzz_targets.MAX_INPUT_BYTES,
        "dict": folder / "words", "artifact_prefix": f"{folder}/", "print_final_stats": 1,
    }  # fmt: skip
    flags = [f"-{name}={value}" for name, value in options.items()]
    atheris.Setup([sys.argv[0], str(folder / "corpus"), *flags], function)
    atheris.Fuzz()


def fuzz_all(seconds: int) -> int:
    """Fuzz every target in its own process; a crash does not stop the next."""
    names = sorted(module().targets())
    crashed = []
    for name in names:
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, name, "--seconds", str(max(1, seconds // len(names)))]
        with (folder / "log").open("wb") as log:
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        if code == 4:
            return report_missing_fuzzer(folder / "log")
        end = "no crash" if code == 0 else f"CRASH, see {folder.relative_to(ROOT)}"
        print(f"{name}: {final_statistics((folder / 'log').read_text('utf-8', 'replace'))}, {end}", flush=True)
        crashed += [name] if code else []
    print(f"{len(names)} targets, {len(crashed)} crashed")
    return 1 if crashed else 0


def final_statistics(log: str) -> str:
    """Final figures of the fuzzer: inputs, branches reached by the seeds and by all inputs, the worst input."""
    patterns = (
        r"number_of_executed_units:\s*(\d+)", r"INITED cov: (\d+)", r" cov: (\d+)", r"slowest_unit_time_sec:\s*(\d+)",
        r"peak_rss_mb:\s*(\d+)",
    )  # fmt: skip
    matches = (re.findall(pattern, log)[-1:] or ["?"] for pattern in patterns)
    return "{} inputs, branches {} to {}, slowest {} s, {} MB".format(*(values[0] for values in matches))


def report_missing_fuzzer(log: Path) -> int:
    """Print why nothing ran."""
    print(log.read_text("utf-8", "replace").strip(), file=sys.stderr)
    return 4


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", help="default: all targets")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--input", type=Path, help="run this one input, without the fuzzer")
    options = parser.parse_args()
    if options.target is None:
        sys.exit(fuzz_all(options.seconds))
    if options.input is None:
        fuzz(options.target, options.seconds)
    else:
        module().targets()[options.target](options.input.read_bytes())


if __name__ == "__main__":
    main()
