"""What scripts/performance and the scripts/bench_*.py are made of; Python's standard library alone."""
