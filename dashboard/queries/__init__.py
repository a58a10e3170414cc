"""What the pages ask of the record: a file for each page, and one for what all of them need."""
