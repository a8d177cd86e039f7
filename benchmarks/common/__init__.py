"""What all benchmarks stand on: problems and their optima, data, programs, storage, plots."""
