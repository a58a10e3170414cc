"""Questions that take minutes, answered with a table. Run as `python -m benchmarks.NAME`."""
