"""Public forms of forecast files: one module each, which reads questions, outcomes, prices and forecasts.

A form is a module here. It defines

- `TITLE`, its name for people;
- `recognise(files)`, which returns what identifies the form in these files, or None if they aren't in it;
- `read(files)`, which returns their `SourceData` with each fault by file, line and field.

`files` are all files of a source: a single one, those of a folder, or of a clone of a board. A form reads its
own and ignores others.
"""
