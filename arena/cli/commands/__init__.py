"""The commands as they are declared: options, help, and what each does step by step.

Help loads these files alone, so they import what does the work inside their functions.
"""
