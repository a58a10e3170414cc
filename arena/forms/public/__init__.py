"""Public forms of forecast files: one file each, which reads questions, outcomes, prices and forecasts.

A form is a module here. It defines

- `TITLE`, what people call it;
- `recognise(files)`, which returns what is typical of the form in these files, or None if they aren't of it;
- `read(files)`, which returns their `SourceData` with each fault by file, line and field.

`files` are all that was found in a source: a file, the files of a folder, or of a clone of a board. A form
takes its own and leaves others alone.
"""
