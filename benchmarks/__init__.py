"""Measurements that take minutes, printed as a table. Run as `python -m benchmarks.NAME`."""
