"""A folder rocm-port/ that comes with the repository."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

from attacks.site import INJECTED, Site


def port_of_another_machine(site: Site) -> None:
    """A real port, committed, without its state; its install script is another."""
    _copy(site)
    site.write("rocm-port/install.sh", f"#!/bin/sh\n{site.shell('install')}\n", executable=True)


def port_that_names_other_files(site: Site) -> None:
    """Its port.json says that files of somebody else are ours."""
    _copy(site)
    port = json.loads((site.ported / "port.json").read_bytes())
    targets = [
        "../outside/notes.txt",
        ".git/config",
        "setup.py",
        "rocm-port/../../outside/notes.txt",
        str(site.outside),
    ]
    port["added"] += targets
    port["edited"] |= {name: {"before": "0" * 64, "after": "0" * 64, "recipes": [INJECTED]} for name in targets}
    site.write("rocm-port/port.json", json.dumps(port))


def odd_port_json(site: Site) -> None:
    site.write("rocm-port/port.json", site.random.choice([
        "[" * 200_000, "null", "[]", '{"tool": "rocm3d"}', '{"tool": ["rocm3d"]}', '{"tool": "rocm3d", "added": 1}',
        '{"tool": "rocm3d", "edited": [1], "added": {"a": 1}}', '{"tool":' * 50_000, "\udcff",
        '"\\ud800"', "1" * 10_000,
    ]))  # fmt: skip


def port_json_is_no_file(site: Site) -> None:
    target = site.clear("rocm-port/port.json")
    kind = site.random.randrange(3)
    if kind == 0:
        os.mkfifo(target)
    elif kind == 1:
        target.mkdir()
    else:
        target.symlink_to(site.outside / "secret.json")


def huge_port_json(site: Site) -> None:
    with site.clear("rocm-port/port.json").open("wb") as stream:
        stream.truncate(8 << 30)


def port_folder_links_out(site: Site) -> None:
    site.link("rocm-port", site.random.choice([site.outside, site.outside / "folder", "/nowhere"]))


def port_folder_is_a_file(site: Site) -> None:
    site.write("rocm-port", INJECTED)


def files_of_the_port_link_out(site: Site) -> None:
    """A port that is ours by its port.json, with links where files will be written."""
    _copy(site)
    for name in site.random.sample(
        ["install.sh", "README.md", "requirements.txt", "environment.sh", "compose.yaml"], 3
    ):
        site.link(f"rocm-port/{name}", site.outside / "notes.txt")
    with contextlib.suppress(OSError):
        site.link("rocm-port/scripts.d", site.outside / "folder")


def foreign_files_in_the_port(site: Site) -> None:
    """Files of the repository's own beside those of the port: undo keeps them."""
    _copy(site)
    site.write("rocm-port/own.txt", "own")
    site.write("rocm-port/patches/own@0000.patch", f"--- a/a\n+++ b/a\n{INJECTED}\n")


def _copy(site: Site) -> None:
    site.clear("rocm-port")
    shutil.copytree(site.ported, site.tree / "rocm-port")


SHAPES = (
    port_of_another_machine, port_that_names_other_files, odd_port_json, port_json_is_no_file, huge_port_json,
    port_folder_links_out, port_folder_is_a_file, files_of_the_port_link_out, foreign_files_in_the_port,
)  # fmt: skip
