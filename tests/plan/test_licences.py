from __future__ import annotations

from rocm3d.model.package import Licence
from rocm3d.model.port import Port
from rocm3d.plan.licences import licences

STRICT = Licence(name="Some Source License", note="No sale.", restrictive=True)


def test_only_terms_that_forbid_something(make):
    packages = [
        make.package("plain", make.route("r")),
        make.package("free", make.route("r"), licence=Licence(name="MIT")),
        make.package("strict", make.route("r"), licence=STRICT),
    ]
    knowledge = make.knowledge(packages)

    found = licences(["strict", "free", None, "plain", "strict"], None, knowledge)

    assert [(item.package, item.licence) for item in found] == [("strict", STRICT)]


def test_the_repository_itself(make):
    fact = {"checked": make.today, "confidence": "reported", "sources": make.stack("s").sources}
    port = Port(id="model", title="Model", tier=1, families=(), licence=STRICT, **fact)

    assert [item.package for item in licences([], port, make.knowledge())] == ["Model"]
    assert licences([], port.model_copy(update={"licence": Licence(name="MIT")}), make.knowledge()) == ()
