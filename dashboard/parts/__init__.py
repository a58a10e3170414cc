"""What pages are made of where one file would hold too much: lists, tables, and single things whole."""
