"""What is read from the record, a file for each subject."""
