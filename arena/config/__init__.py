"""config.yaml: read, checked as a whole, and made into what the arena works with.

It is the only settings file of an arena. `arena init DIR` writes one in which every key is explained;
`arena check` names every mistake at once, with file, line, key and the mend, and lists who would play.
Changes count for cohorts that start later: one that plays keeps what it started with.

Amounts are dollars, such as `0.50` or `10000`; a length of time has its unit, such as `120s`, `15m`, `2h`
or `60d`; paths start from the folder of the config. An unknown key is a mistake, never ignored.
"""

from arena.config.endpoint import Endpoint
from arena.config.errors import ConfigError, ConfigErrors
from arena.config.keys import environment, key_variables
from arena.config.model import (
    AgentConfig,
    Backup,
    Budget,
    Calls,
    Cohorts,
    Config,
    Evidence,
    Markets,
    Run,
    Watch,
)
from arena.config.read import load
from arena.config.units import Cadence, Start, cadence

__all__ = [
    "AgentConfig",
    "Backup",
    "Budget",
    "Cadence",
    "Calls",
    "Cohorts",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "Endpoint",
    "Evidence",
    "Markets",
    "Run",
    "Start",
    "Watch",
    "cadence",
    "environment",
    "key_variables",
    "load",
]
