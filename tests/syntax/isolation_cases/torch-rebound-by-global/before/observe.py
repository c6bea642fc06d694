import types

import ops

ops.switch(types.SimpleNamespace(version=types.SimpleNamespace(hip='6.0')))
print(ops.scale(5))
