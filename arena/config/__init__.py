"""config.yaml: read, checked as a whole, and made into what the arena works with."""

from arena.config.errors import ConfigError, ConfigErrors
from arena.config.keys import environment, key_variables
from arena.config.model import AgentConfig, Budget, Calls, Cohorts, Config, Markets
from arena.config.read import load
from arena.config.units import Start

__all__ = [
    "AgentConfig",
    "Budget",
    "Calls",
    "Cohorts",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "Markets",
    "Start",
    "environment",
    "key_variables",
    "load",
]
