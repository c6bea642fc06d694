from ops import *

print(sorted(name for name in dir() if name[0] != '_'))
