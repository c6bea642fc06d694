from __future__ import annotations

from rocm3d.apply.addition import additions
from rocm3d.workspace.tree import Tree


def test_additions_are_found_in_the_order_of_their_names():
    names = list(additions())
    assert names == sorted(names)
    assert {"install", "readme", "requirements"} <= set(names)


def test_added_files_are_not_importable_and_stay_inside_the_folder(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_text("torch\n")
    tree = Tree.open(tmp_path)
    paths = [path for render in additions().values() for path in render(make_plan(), tree, "rocm-port")]
    assert paths
    assert not [path for path in paths if path.startswith("/") or ".." in path or path.endswith("__init__.py")]
