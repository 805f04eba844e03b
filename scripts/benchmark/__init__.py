"""What scripts/performance and scripts/bench_python.py are made of; Python's standard library alone."""
