import inspect

import ops as operations

print(len(inspect.getsource(operations)))
