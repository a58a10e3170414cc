"""The commands of `arena`: their options, their help, and the order in which each does its work.

These files are loaded for `--help` alone, which has to be there at once. So they import little at the top,
and a command imports what does its work when it runs.
"""
