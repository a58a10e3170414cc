"""The record as a file: backup, restore, copy, move, and whether a file is whole."""
