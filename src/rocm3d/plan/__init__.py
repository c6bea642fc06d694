"""Plan: Inventory + Findings + GPU -> Plan. Pure: touches no file and no process."""
