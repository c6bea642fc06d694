import linecache

import ops

print(linecache.getline(ops.__file__, 3))
