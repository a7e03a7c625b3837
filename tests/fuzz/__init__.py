"""A fuzzer for everything that coevo reads: see `fuzz.run`."""
