import doctest

import ops

print(doctest.testmod(ops, verbose=False).failed)
