from ops import scale as run
