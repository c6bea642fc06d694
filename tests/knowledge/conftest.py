"""Small overlay records as TOML text."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import load

FACT = 'checked = 2026-01-02\nconfidence = "reported"\nsources = [{{ where = "a public place" }}]\n'

FAMILY = 'id = "{id}"\ntitle = "t"\nfails_by = "f"\ntry_first = "t"\n' + FACT
PACKAGE = (
    'id = "{id}"\npip = {pip}\nimports = {imports}\nfamily = "{family}"\npurpose = "p"\n'
    + FACT
    + '[[routes]]\nid = "keep"\ndecision = "keep"\nsummary = "s"\nrank = 1\ngfx = {gfx}\nproducts = {products}\n'
    + FACT
)
TARGET = (
    'gfx = "{gfx}"\ntitle = "T"\narchitecture = "cdna"\ndefault_product = "{product}"\nwave_size = 64\nfp8 = "none"\n'
    'matrix = "mfma"\nlds_kib = 64\nrocm = ">=6"\n' + FACT + '[[products]]\nid = "{product}"\ntitle = "{title}"\n'
    "names = {names}\nvram_gb = 16\n"
)
STACK = (
    'id = "{id}"\ntitle = "t"\nplatforms = ["linux"]\nform = "pip"\nrocm = "7.0"\ntorch = "2.8.0"\npython = "3.12"\n'
    "gfx = {gfx}\nreleased = 2026-01-01\n" + FACT
)
PORT = 'id = "{id}"\ntitle = "t"\ntier = 1\nfamilies = ["fam"]\nmarks = {marks}\n' + FACT + "[routes]\n{routes}\n"
CODE = (
    'code = "{code}"\nrule = "{rule}"\nseverity = "note"\nmessage = "m"\nhint = "h"\nhelp = "{help}"\n'
    'family = "{family}"\nsince = "0.1.0"\nstatus = "{status}"\n{rest}\n' + FACT
)
FIX = (
    '\n[fix]\nid = "{id}"\ntitle = "t"\nfamily = "{family}"\nrewrite = "{rewrite}"\nsafety = "safe"\n'
    'why = "w"\nchanges_for_user = "c"\nsince = "0.1.0"\nstatus = "{status}"\nalso = {also}\n' + FACT
)

CARD = 'id = "{id}"\ntitle = "{title}"\nvendor = "{vendor}"\nnames = {names}\nmemory_kind = "HBM3"\n{rest}\n' + FACT


class Overlay:
    """An overlay folder; each method writes one record with defaults."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, path: str, text: str | bytes) -> Overlay:
        file_path = self.folder / path
        file_path.parent.mkdir(parents=True, exist_ok=True)
        file_path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self

    def family(self, name: str = "fam") -> Overlay:
        return self.put(f"families/{name}.toml", FAMILY.format(id=name))

    def package(self, name: str, **fields: object) -> Overlay:
        values = {"pip": [name], "imports": [], "family": "fam", "gfx": [], "products": [], **fields}
        return self.put(f"packages/{name}.toml", PACKAGE.format(id=name, **values))

    def target(self, gfx: str, product: str, **fields: object) -> Overlay:
        values = {"title": product, "names": [], **fields}
        return self.put(f"targets/{gfx}.toml", TARGET.format(gfx=gfx, product=product, **values))

    def stack(self, name: str, gfx: list[str]) -> Overlay:
        return self.put(f"stacks/{name}.toml", STACK.format(id=name, gfx=gfx))

    def card(self, name: str, *, amd: bool = False, tail: str = "", **fields: object) -> Overlay:
        rest = "" if amd else 'memory_gb = 80\nfp8 = "ocp"\nmatrix = "tensor"'
        values = {"title": name, "names": [], "vendor": "amd" if amd else "nvidia", "rest": rest, **fields}
        return self.put(f"cards/{name}.toml", CARD.format(id=name, **values) + tail)

    def port(self, name: str, marks: tuple[str, ...] = (), **routes: str) -> Overlay:
        lines = "\n".join(f'{package} = "{route}"' for package, route in routes.items())
        return self.put(f"ports/{name}.toml", PORT.format(id=name, marks=list(marks), routes=lines))

    def codes(self, *codes: dict[str, str]) -> Overlay:
        base = {"code": "NUM901", "rule": "odd_thing", "help": "long", "family": "fam", "status": "active", "rest": ""}
        for values in ({**base, **code} for code in codes):
            group = "odd" if values["code"] == "NUM901" else "more"
            self.put(f"rules/{group}/{values['rule']}/rule.toml", CODE.format(**values))
        return self

    def fix(self, name: str, rule: str = "odd/odd_thing", **fields: object) -> Overlay:
        values = {"family": "", "rewrite": "do_it", "status": "active", "also": [], **fields}
        path = self.folder / "rules" / rule / "rule.toml"
        path.write_text(path.read_text() + FIX.format(id=name, **values))
        for part in ("before", "after", "untouched"):
            self.put(f"rules/{rule}/cases/{part}.py", f"# {name} {part}\n")
        return self

    def load(self) -> Knowledge:
        return load(self.folder)


@pytest.fixture
def overlay(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    return Overlay(folder)
