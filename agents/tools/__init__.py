"""Tools of models: a file here is a tool, and its name in the config is its file name."""
