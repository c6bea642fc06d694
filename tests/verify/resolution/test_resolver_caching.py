from __future__ import annotations

from rocm3d.verify.resolution.index import IndexSettings
from rocm3d.verify.resolution.resolver import CachingResolver, Resolution, ResolveRequest


class CountingResolver:
    label, indexes = "counting 1", IndexSettings("https://h/simple")

    def __init__(self):
        self.count = 0

    def resolve(self, request):
        self.count += 1
        return Resolution()


def request(folder, text, **more):
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text(text)
    return ResolveRequest(folder / "requirements.txt", "3.12", "linux", **more)


def test_different_requests_are_resolved_again(tmp_path):
    counting = CountingResolver()
    caching_resolver = CachingResolver(counting, {})
    caching_resolver.resolve(request(tmp_path / "a", "x\n"))
    caching_resolver.resolve(request(tmp_path / "b", "y\n"))
    caching_resolver.resolve(request(tmp_path / "c", "x\n", index="https://i"))
    caching_resolver.resolve(request(tmp_path / "d", "x\n", links=("/stand-ins",)))
    caching_resolver.resolve(request(tmp_path / "e", "x\n", without_dependencies=True))

    assert counting.count == 5


def test_an_equal_request_in_another_folder_is_cached(tmp_path):
    counting, answers = CountingResolver(), {}
    CachingResolver(counting, answers).resolve(request(tmp_path / "a", "x\n", links=("/one",)))
    CachingResolver(counting, answers).resolve(request(tmp_path / "b", "x\n", links=("/two",)))

    assert counting.count == 1


def test_it_has_the_label_of_the_wrapped_resolver():
    caching_resolver = CachingResolver(CountingResolver(), {})

    assert (caching_resolver.label, caching_resolver.indexes.default) == ("counting 1", "https://h/simple")
