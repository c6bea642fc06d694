"""The only doors outside: tree reads, writer writes, process runs."""
