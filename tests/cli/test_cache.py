from __future__ import annotations


def test_foreign_folder_is_not_removed(rocm3d, tmp_path):
    (tmp_path / "precious").write_text("mine")

    ended = rocm3d("cache", "clear", env={"ROCM3D_CACHE": str(tmp_path)})

    assert ended.code == 2
    assert (tmp_path / "precious").read_text() == "mine"


def test_path_prints_the_folder_and_clear_removes_it(rocm3d, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n# made by rocm3d\n")
    (folder / "data").write_bytes(b"12345")
    env = {"ROCM3D_CACHE": str(folder)}

    assert rocm3d("cache", "path", env=env).out == f"{folder}\n"
    ended = rocm3d("cache", "clear", env=env)

    assert ended.code == 0
    assert "66 bytes freed" in ended.err
    assert not folder.exists()
