"""The story, the record and the shell: who played what, when, and how well."""
