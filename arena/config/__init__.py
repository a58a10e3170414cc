"""config.yaml: read, checked as a whole, and made into what the arena works with.

It is the only settings file of an arena. `arena init DIR` writes a short one, and `arena config --all`
prints one with every key. `arena config` shows what is in effect; `arena check` names every mistake at
once, with file, line, key and a hint, and lists who would play.
Changes count for cohorts that start later: one that plays keeps what it started with.

Amounts are dollars, such as `0.50` or `10000`; a length of time has its unit, such as `120s`, `15m`, `2h`
or `60d`; paths start from the folder of the config. An unknown key is a mistake, never ignored.
"""

from arena.config.environment import environment, key_variables
from arena.config.errors import ConfigError, ConfigErrors
from arena.config.field_types import Cadence, Endpoint, cadence
from arena.config.loader import load
from arena.config.model import AgentConfig, Config

__all__ = [
    "AgentConfig",
    "Cadence",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "Endpoint",
    "cadence",
    "environment",
    "key_variables",
    "load",
]
