from __future__ import annotations

from rocm3d.model.package import Licence
from rocm3d.model.port import Port
from rocm3d.plan.stage import licence_notices

STRICT = Licence(name="Some Source License", note="No sale.", restrictive=True)


def test_only_restrictive_licences(make):
    packages = [
        make.package("plain", make.route("r")),
        make.package("free", make.route("r"), licence=Licence(name="MIT")),
        make.package("strict", make.route("r"), licence=STRICT),
    ]
    knowledge = make.knowledge(packages)

    result = licence_notices(["strict", "free", None, "plain", "strict"], None, knowledge)

    assert [(entry.package, entry.licence) for entry in result] == [("strict", STRICT)]


def test_licence_of_the_repository(make):
    fact = {"checked": make.today, "confidence": "reported", "sources": make.stack("s").sources}
    port = Port(id="model", title="Model", tier=1, families=(), licence=STRICT, **fact)

    assert [entry.package for entry in licence_notices([], port, make.knowledge())] == ["Model"]
    assert licence_notices([], port.model_copy(update={"licence": Licence(name="MIT")}), make.knowledge()) == ()
