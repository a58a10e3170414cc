"""The minds: what an agent sees, how it is asked, and what it decides."""
