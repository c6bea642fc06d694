"""One module per rule. rocm3d.scan.detector walks this package and reads the `detector` of each module."""
