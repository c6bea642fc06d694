from lib.ops import *
