"""How commands are typed: their options, help and steps; what does the work is loaded when one runs."""
