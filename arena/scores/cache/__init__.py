"""What is worked out ahead of time, so that nobody who looks has to wait: a file for each thing."""
