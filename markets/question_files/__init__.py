"""Folders of questions: `asked` has what they hold, `folder_reader` reads our own form of files."""
