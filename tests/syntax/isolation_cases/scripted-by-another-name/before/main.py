from torch.jit import script as compiled

from ops import scale

run = compiled(scale)
