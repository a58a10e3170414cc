"""Changes of the record, a file for each subject."""
