"""The checks of a record, one module for each subject."""
