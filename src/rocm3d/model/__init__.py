"""The words of the house: frozen records and documents that every stage speaks in. No I/O."""
