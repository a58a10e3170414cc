"""Which provider a model's name leads to, as litellm resolves it.

Most names are resolved from files that come with litellm; the library itself, whose import takes seconds,
is asked only about a name that these don't settle.
"""

import json
import re
from difflib import get_close_matches
from functools import cache

from agents.model_table.price_table import library_folder, price_table

DEMO = "demo/"
"""The prefix of the demo's models, which the package serves itself."""
_ENUM = re.compile(r"class LlmProviders\(.*?(?=\n\S)", re.DOTALL)
_VALUE = re.compile(r'^    \w+ = "([^"]+)"', re.MULTILINE)


@cache
def provider_names() -> frozenset[str]:
    """Return the provider prefixes of model names."""
    folder = library_folder()
    enum = _ENUM.search((folder / "types" / "utils.py").read_text(encoding="utf-8"))
    compatible = json.loads((folder / "llms" / "openai_like" / "providers.json").read_text(encoding="utf-8"))
    return frozenset([*_VALUE.findall(enum[0] if enum else ""), *compatible])


def named_provider(model: str) -> str | None:
    """Return the provider that a model's name settles by itself, or None: nothing is imported for it."""
    prefix, slash, _ = model.partition("/")
    if model.startswith(DEMO) or (slash and prefix in provider_names()):
        return prefix
    listed = price_table().get(model, {}).get("litellm_provider")
    if listed in ("openai", "anthropic") and not model.startswith("ft:"):
        return str(listed)
    return None


def provider_of(model: str, base_url: str | None = None) -> str | None:
    """Return the provider that is asked for a model; None where litellm finds none."""
    named = named_provider(model)
    if named is not None:
        return named
    from agents.llm import resolve_provider

    return resolve_provider(model, base_url)


def is_known(model: str) -> bool:
    """Tell whether a model's name settles its provider, or is in litellm's table."""
    return named_provider(model) is not None or model in price_table()


def no_provider(model: str, base_url: str | None = None) -> str:
    """Return what is wrong with a model's name that has no provider, and what may be meant."""
    prefix, slash, _ = model.partition("/")
    if base_url is not None:
        return f"a server at a base_url needs its protocol before the name: openai/{model}"

    if slash:
        near = get_close_matches(prefix, sorted(provider_names()), n=1)
        hint = "docs.litellm.ai/docs/providers has them all"
        if near:
            hint = f"Did you mean {near[0]}?"
        return f"there is no provider {prefix}. {hint}"

    likely = price_table().get(model, {}).get("litellm_provider")
    full = f"{likely}/{model}" if likely in provider_names() else near_model(model)
    hint = f"Did you mean {full}?" if full else "Write it as PROVIDER/MODEL"
    return f"no provider is known for {model}. {hint}"


def near_model(model: str) -> str | None:
    """Return the known model with the nearest name; None for a known model, or without one near."""
    provider, slash, name = model.partition("/") if "/" in model else ("", "", model)
    known = {key.removeprefix(f"{provider}/") for key, entry in price_table().items()
             if entry.get("litellm_provider") == provider or not provider}  # fmt: skip
    if name in known:
        return None

    near = get_close_matches(name, sorted(known), n=1, cutoff=0.85)
    if not near:
        return None
    return f"{provider}{slash}{near[0]}"


def near_name(model: str) -> str | None:
    """Return the known model nearest to a name and its provider; None for a known name or none near.

    >>> near_name("anthropc/claude-sonet-4-5"), near_name("anthropic/claude-sonnet-4-5")
    ('anthropic/claude-sonnet-4-5', None)
    """
    prefix, slash, name = model.partition("/")
    if not slash or prefix in provider_names():
        return near_model(model)
    near = get_close_matches(prefix, sorted(provider_names()), n=1)
    if not near:
        return near_model(model)

    corrected = f"{near[0]}/{name}"
    return near_model(corrected) or corrected
