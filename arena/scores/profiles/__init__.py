"""Agents in depth: profiles, duels, calibration, coherence, and why ranks moved."""
