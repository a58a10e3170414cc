"""The pages: a file is one."""
