"""The declarations of the commands: options, help, and the steps of each.

Help loads only these files, so they import the code that does the work inside their functions.
"""
