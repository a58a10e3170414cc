"""The view: it reads the record and changes nothing."""
