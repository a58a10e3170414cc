"""From what a model or a file says to a decision: read, combined, and checked."""
