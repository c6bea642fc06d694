from unittest import mock

with mock.patch.dict("sys.modules", {"torch": mock.MagicMock()}):
    import ops

    print(ops.scale(5))
