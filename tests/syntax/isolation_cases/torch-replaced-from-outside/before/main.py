import types

import ops

ops.torch = types.SimpleNamespace(version=types.SimpleNamespace(hip='6.0'))
print(ops.scale(5))
