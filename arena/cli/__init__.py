"""The command line: one command a file, registered in `arena/cli/main.py`."""
