from ops import *

print(scale(5))
