"""The parts of an agent's page, a file each."""
