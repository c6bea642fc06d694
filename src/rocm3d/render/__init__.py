"""Documents for people and programs: one file per format; no stage knows which is used."""
