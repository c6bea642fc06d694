import inspect

import ops

print([name for name, _ in inspect.getmembers(ops) if name[0] != '_'])
