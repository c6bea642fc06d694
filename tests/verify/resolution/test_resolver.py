from __future__ import annotations

from rocm3d.verify.resolution.resolver import ResolveRequest


def request(folder, text, **more):
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text(text)
    return ResolveRequest(folder / "requirements.txt", "3.12", "linux", **more)


def test_different_requests_have_different_keys(tmp_path):
    requests = [
        request(tmp_path / "a", "x\n"),
        request(tmp_path / "b", "y\n"),
        request(tmp_path / "c", "x\n", index="https://i"),
        request(tmp_path / "d", "x\n", links=("/stand-ins",)),
        request(tmp_path / "e", "x\n", without_dependencies=True),
    ]

    assert len({item.key for item in requests}) == 5


def test_an_equal_request_in_another_folder_has_the_same_key(tmp_path):
    first = request(tmp_path / "a", "x\n", links=("/one",))
    second = request(tmp_path / "b", "x\n", links=("/two",))

    assert first.key == second.key
