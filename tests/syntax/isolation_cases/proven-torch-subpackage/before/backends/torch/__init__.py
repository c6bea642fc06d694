name = "backend"
