"""What Metaculus publishes: questions of its API, tables to download, and reports of its tools."""
