from inspect import getsource as text_of

import ops

print(len(text_of(ops.scale)))
