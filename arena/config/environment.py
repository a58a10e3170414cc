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
KEY_PAGES = {
    "anthropic": "platform.claude.com/settings/keys",
    "deepseek": "platform.deepseek.com/api_keys",
    "gemini": "aistudio.google.com/apikey",
    "groq": "console.groq.com/keys",
    "mistral": "console.mistral.ai/api-keys",
    "openai": "platform.openai.com/api-keys",
    "openrouter": "openrouter.ai/settings/keys",
    "xai": "console.x.ai",
}
"""Where a provider gives out keys."""
SECRET_FILE = re.compile(r"(\w*(?:KEY|TOKEN|SECRET|PASSWORD|WEBHOOK|PING)\w*)_FILE", re.ASCII)
"""Variables that name the file of a secret."""
ASSIGNMENT = re.compile(rf"\s*(?:export\s+)?({VARIABLE})\s*=\s*(.*?)\s*|\s*(?:#.*)?")
"""A line of `.env`: a variable and its value, or nothing but a comment."""
QUOTED = re.compile(r"""(["'])(.*)\1(?:\s+#.*)?""")
STEERS_PROGRAMS = re.compile(
    r"(?:LD|DYLD|GIT|BASH|NODE)_\w+|PYTHON[A-Z]\w+|PATH|HOME|ENV|SHELL|IFS|GCONV_PATH|OPENSSL_CONF"
    r"|XDG_CONFIG_HOME|ARENA_TRUST_EXTENSIONS",
    re.ASCII,
)
"""Variables by which a folder's `.env` could choose what code is run, or say that its own code is trusted."""


def key_variables(settings: ModelSettings) -> tuple[str, ...]:
    """Return the variables of which one must hold a model's key; empty if it needs none, or none is known.

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
    """Note models without a provider, invalid names of variables, and demo models that can't play.

    A demo model plays only where the venue is not `live`.
    """
    for index, agent in agents.items():
        settings = model_settings(agent.settings)
        if settings is None:
            continue

        model = settings.model
        message = ""
        if provider_of(model, settings.base_url) is None:
            message = no_provider(model, settings.base_url)
        elif model.startswith(DEMO) and live:
            message = "demo models belong to the simulator: a live venue needs a model of your own"
        elif model.startswith(DEMO) and model.removeprefix(DEMO) not in MODELS:
            message = suggestion(model.removeprefix(DEMO), [*MODELS])[1]
        if message:
            document.add_error(("agents", index, "model"), quoted_value(model), "PROVIDER/MODEL", message)

        variable = settings.api_key_env
        if variable is not None and not re.fullmatch(VARIABLE, variable):
            meant = "the name of an environment variable (not the key itself)"
            document.add_error(("agents", index, "api_key_env"), "other text", meant)


def missing_key(settings: ModelSettings | None, environ: Mapping[str, str]) -> str:
    """Return the variable that should hold a model's missing key; empty if no key is missing.

    >>> missing_key(ModelSettings(model="xai/some-model"), {})
    'XAI_API_KEY'
    """
    if settings is None:
        return ""

    variables = key_variables(settings)
    if not variables or any(map(environ.get, variables)):
        return ""
    return variables[0]


def require_key(settings: ModelSettings, environ: Mapping[str, str], file: Path, otherwise: str = "") -> None:
    """Raise `ArenaError` if the key of a model is missing; its hint says where to get and set it."""
    variable = missing_key(settings, environ)
    if not variable:
        return

    hint = f"write {variable}=… into {file}"
    page = KEY_PAGES.get(provider_of(settings.model) or "")
    if page:
        hint += f" (from {page})"
    raise ArenaError("no_key", f"{variable} is not set, and {settings.model} needs it", hint + otherwise)


def missing_keys(agents: Iterable[AgentConfig], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the usual variable of each agent whose model's key is missing, by the agent's name."""
    missing = {}
    for agent in agents:
        variable = missing_key(model_settings(agent.settings), environ)
        if variable:
            missing[agent.name] = variable
    return missing


def key_places(agents: Iterable[AgentConfig], folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return where the key of each agent's model is read from, in words, by the agent's name."""
    with_env_file = environment(folder, environ)
    places = {}
    for agent in agents:
        place = key_place(model_settings(agent.settings), with_env_file, environ)
        if place:
            places[agent.name] = place
    return places


def key_place(
    settings: ModelSettings | None, with_env_file: Mapping[str, str], environ: Mapping[str, str]
) -> str:
    """Return the variable that a model's key is read from, and whether `.env` adds it to the environment.

    `with_env_file` is the environment with `.env`. The text is empty if no variable is known.

    >>> mine = ModelSettings(model="openai/mine", api_key_env="MY_KEY")
    >>> key_place(mine, {"MY_KEY": "…"}, {}), key_place(mine, {"MY_KEY": "…"}, {"MY_KEY": "…"})
    ('MY_KEY in .env', 'MY_KEY')
    """
    variables = () if settings is None else key_variables(settings)
    if not variables:
        return ""

    variable = next((name for name in variables if with_env_file.get(name)), variables[0])
    return variable if variable in environ else f"{variable} in .env"


def environment(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with the variables that `.env` in the folder adds to it.

    Raise `ConfigErrors` for lines that are no variables, and for variables that `.env` may not set.
    """
    path = folder / ".env"
    if not path.is_file():
        return dict(environ)

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = "this file is not readable text"
        fault = ConfigError(str(path), 1, "", "a file that can't be read", "text in UTF-8", message)
        raise ConfigErrors([fault]) from error

    added = {}
    errors = []
    for number, line in enumerate(text.splitlines(), 1):
        match = ASSIGNMENT.fullmatch(line)
        if match is None:
            meant = "NAME=value, or # and a comment"
            message = f"invalid line, expected {meant}"
            errors.append(ConfigError(str(path), number, "", "another line", meant, message))
            continue

        name, value = match.groups()
        if name is None:  # an empty line, or a comment
            continue
        if STEERS_PROGRAMS.fullmatch(name):
            message = f"{name} can't be set here, since it steers which programs are run: set it outside"
            errors.append(ConfigError(str(path), number, "", name, "keys and other secrets", message))
            continue

        quoted = QUOTED.fullmatch(value)
        without_comment = re.sub(r"(^|\s+)#.*", "", value)
        added[name] = quoted[2] if quoted else without_comment

    if errors:
        raise ConfigErrors(errors)
    return added | dict(environ)  # what is set outside takes precedence


def readable_env(folder: Path) -> str | None:
    """Return the path of a folder's `.env` if other users can read it, else None."""
    path = folder / ".env"
    if path.is_file() and path.stat().st_mode & 0o077:
        return str(path)
    return None


def secrets_in_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets in files: PGPASSWORD, if PGPASSWORD_FILE names a file and PGPASSWORD is not set."""
    secrets = {}
    for variable, path in environ.items():
        file_variable = SECRET_FILE.fullmatch(variable)
        if not file_variable or not path or environ.get(file_variable[1]):
            continue

        name = file_variable[1]
        try:
            secrets[name] = Path(path).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
            message = f"{variable} names {path}, which can't be read: {reason}"
            hint = f"let it name a file that may be read, or set {name} itself"
            raise ArenaError("no_secret", message, hint) from error
    return secrets
