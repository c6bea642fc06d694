"""All access to files, processes and the network: tree reads, writer writes, process runs, web downloads."""
