import doctest

import ops

print(doctest.testmod(ops).failed)
