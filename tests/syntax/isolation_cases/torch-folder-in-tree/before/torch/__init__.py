name = "stand-in"
