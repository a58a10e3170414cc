"""What is checked in a record, a file for each subject."""
