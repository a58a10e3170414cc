"""The environment: API keys by their variables, and the `.env` file beside the config."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from agents.demo.models import MODELS
from agents.model import ModelSettings, model_settings
from agents.providers import DEMO, no_provider, provider_of
from arena.config.document import Document
from arena.config.errors import ConfigError, ConfigErrors, quoted_value, suggestion
from arena.config.field_types import VARIABLE
from arena.config.model import AgentConfig
from arena.errors import ArenaError

KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "azure": ("AZURE_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "dashscope": ("DASHSCOPE_API_KEY",),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "replicate": ("REPLICATE_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""The variables that a provider's key is read from: the first is the usual one, any will do."""
SECRET_FILE = re.compile(r"(\w*(?:KEY|TOKEN|SECRET|PASSWORD|WEBHOOK|PING)\w*)_FILE", re.ASCII)
"""Variables that name the file of a secret."""
STEERS_PROGRAMS = re.compile(
    r"(?:LD|DYLD|GIT|BASH|NODE)_\w+|PYTHON[A-Z]\w+|PATH|HOME|ENV|SHELL|IFS|GCONV_PATH|OPENSSL_CONF"
    r"|XDG_CONFIG_HOME|ARENA_TRUST_EXTENSIONS",
    re.ASCII,
)
"""Variables by which a folder's `.env` could choose what code is run, or say that its own code is trusted."""


def key_variables(settings: ModelSettings) -> tuple[str, ...]:
    """The variables of which one must hold a key, as far as is known; none for models that need none.

    >>> key_variables(ModelSettings(model="xai/some-model")), key_variables(ModelSettings(model="gpt-4o"))
    (('XAI_API_KEY',), ('OPENAI_API_KEY',))
    >>> key_variables(ModelSettings(model="openai/mine", base_url="http://127.0.0.1:8000/v1"))
    ()
    """
    if settings.api_key_env is not None:
        return (settings.api_key_env,)
    if settings.base_url is not None:
        return ()
    return KEYS.get(provider_of(settings.model) or "", ())


def check_models(document: Document, agents: Mapping[int, AgentConfig], live: bool) -> None:
    """Note every agent whose model has no provider, or is no model of the demo, or one at a `live` venue."""
    for place, agent in agents.items():
        if (settings := model_settings(agent.settings)) is None:
            continue
        if provider_of(settings.model, settings.base_url) is None:
            words = no_provider(settings.model, settings.base_url)
            document.add(("agents", place, "model"), quoted_value(settings.model), "PROVIDER/MODEL", words)
            continue
        own = settings.api_key_env
        if own is not None and not re.fullmatch(VARIABLE, own):
            meant = "the name of an environment variable (not the key itself)"
            document.add(("agents", place, "api_key_env"), "other text", meant)
        name = settings.model.removeprefix(DEMO)
        if name != settings.model and (live or name not in MODELS):
            simulated = "demo models belong to the simulator: a live venue needs a model of your own"
            words = simulated if live else suggestion(name, [*MODELS])[1]
            document.add(("agents", place, "model"), quoted_value(settings.model), "PROVIDER/MODEL", words)


def missing_key(settings: ModelSettings | None, environ: Mapping[str, str]) -> str:
    """The variable that should hold the key of a model, where no variable of its provider does; else nothing.

    >>> missing_key(ModelSettings(model="xai/some-model"), {})
    'XAI_API_KEY'
    """
    variables = () if settings is None else key_variables(settings)
    return variables[0] if variables and not any(environ.get(name) for name in variables) else ""


def missing_keys(agents: Iterable[AgentConfig], environ: Mapping[str, str]) -> dict[str, str]:
    """The agents whose model's key is in no variable, each with the usual one."""
    found = {agent.name: missing_key(model_settings(agent.settings), environ) for agent in agents}
    return {name: variable for name, variable in found.items() if variable}


def environment(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with what `.env` in the folder adds; what is set already stays as it is."""
    path = folder / ".env"
    try:
        text = path.read_text("utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigErrors([ConfigError(str(path), 1, "", "a file that can't be read", "text in UTF-8",
                                        "this file is not readable text")]) from error  # fmt: skip
    added: dict[str, str] = {}
    errors = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.fullmatch(rf"\s*(?:export\s+)?({VARIABLE})\s*=\s*(.*?)\s*", line)
        if match and STEERS_PROGRAMS.fullmatch(match[1]):
            words = f"{match[1]} can't be set here, since it steers which programs are run: set it outside"
            errors.append(ConfigError(str(path), number, "", match[1], "keys and other secrets", words))
        elif match:
            quoted = re.fullmatch(r"""(["'])(.*)\1(?:\s+#.*)?""", match[2])
            added[match[1]] = quoted[2] if quoted else re.sub(r"(^|\s+)#.*", "", match[2])
        elif line.strip() and not line.lstrip().startswith("#"):
            meant = "NAME=value, or # and a comment"
            words = f"invalid line, expected {meant}"
            errors.append(ConfigError(str(path), number, "", "another line", meant, words))
    if errors:
        raise ConfigErrors(errors)
    return added | dict(environ)


def readable_env(folder: Path) -> str | None:
    """The `.env` in a folder where others than its owner can read it."""
    path = folder / ".env"
    return str(path) if path.is_file() and path.stat().st_mode & 0o077 else None


def secrets_in_files(environ: Mapping[str, str]) -> dict[str, str]:
    """The secrets that stand in files: PGPASSWORD where PGPASSWORD_FILE names one, and is not set itself."""
    found = {}
    for variable, path in environ.items():
        match = SECRET_FILE.fullmatch(variable)
        if not match or not path or environ.get(match[1]):
            continue
        try:
            found[match[1]] = Path(path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
            hint = f"let it name a file that may be read, or set {match[1]} itself"
            raise ArenaError(
                "no_secret", f"{variable} names {path}, which can't be read: {why}", hint
            ) from error
    return found
