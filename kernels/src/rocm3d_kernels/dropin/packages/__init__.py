"""One package for each drop-in; its __init__ only declares it and imports no torch."""
