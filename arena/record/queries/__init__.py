"""Queries of the record, a file for each subject."""
