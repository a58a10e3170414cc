"""What is written to the record, a file for each subject."""
