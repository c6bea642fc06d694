from unittest import mock

import ops

with mock.patch.multiple("ops", torch=mock.MagicMock()):
    print(ops.scale(5))
