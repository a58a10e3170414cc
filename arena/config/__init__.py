"""config.yaml: read, checked as a whole, and turned into a `Config`.

An arena's only settings file. `arena init DIR` writes a short one; `arena show config --all` prints every
key,
`arena show config` the settings in effect; `arena check` reports mistakes by file, line and key. Changes take
effect with the next cohort.

Dollars are written `0.50` or `10000`, up to a billion; dollars a share are from 0 to 1; a duration has a
unit: `120s`, `15m`, `2h`, `60d`; a schedule is a duration, `every 6 hours`, `daily at 12:00`, a weekday
and a UTC time such as `sun 00:00`, or `off`; a date is `2026-01-04`; a boolean is `true` or `false`. A
range (`0–1`) takes any number in it; of several words a key takes one. Paths are relative to the config's
folder. Unknown keys are errors.
"""

from arena.config.environment import environment, key_variables
from arena.config.errors import ConfigError, ConfigErrors
from arena.config.field_types import Endpoint, cadence
from arena.config.loader import load
from arena.config.model import AgentConfig, Config

__all__ = [
    "AgentConfig",
    "Config",
    "ConfigError",
    "ConfigErrors",
    "Endpoint",
    "cadence",
    "environment",
    "key_variables",
    "load",
]
