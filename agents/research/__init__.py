"""Sources of evidence: a file here is a source, and its name in the config is its file name."""
