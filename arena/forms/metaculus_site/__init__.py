"""What Metaculus publishes: questions in its API, tables to download, and reports of its tools."""
