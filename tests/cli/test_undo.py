from __future__ import annotations


def test_a_tree_that_was_never_ported_is_refused(rocm3d, example):
    ended = rocm3d("undo", example("deform-op"))

    assert ended.code == 2
    assert "nothing to undo" in ended.err


def test_a_file_changed_since_is_not_overwritten(rocm3d, example):
    root = example("deform-op")
    rocm3d("apply", root, "--gpu", "mi300x")
    setup = root / "setup.py"
    setup.write_text(setup.read_text() + "# by hand\n")

    refused = rocm3d("undo", root)
    with_option = rocm3d("undo", root, "--keep-changed")

    assert refused.code == 2
    assert "setup.py" in refused.err
    assert with_option.code == 0
    assert setup.read_text().endswith("# by hand\n")
    assert not (root / "rocm-port").exists()


def test_tree_is_restored_byte_for_byte(rocm3d, example, snapshot):
    root = example("splat-trainer")
    (root / "csrc" / "forward.cu").chmod(0o640)
    before = snapshot(root)
    rocm3d("port", root, "--gpu", "mi300x")
    assert before != snapshot(root)

    ended = rocm3d("undo", root)

    assert ended.code == 0
    assert before == snapshot(root)
    assert not (root / "rocm-port").exists()
