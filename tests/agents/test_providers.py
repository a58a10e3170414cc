"""Providers are those that litellm resolves, found without loading it."""

import subprocess
import sys

import pytest

from agents.llm import resolve_provider
from agents.model_table.price_table import price_table
from agents.providers import near_model, no_provider, provider_names, provider_of


def test_the_providers_are_those_of_the_library() -> None:
    assert resolve_provider("gpt-4o", None) == "openai"  # loads the library, without the network
    from litellm.types.utils import LlmProviders

    listed = {provider.value for provider in LlmProviders}
    assert listed <= provider_names()
    assert all(resolve_provider(f"{name}/model", None) == name for name in provider_names() - listed)


def test_a_name_without_its_provider_leads_where_the_library_sends_it() -> None:
    bare = [name for name, entry in price_table().items() if "/" not in name and entry.get("mode") == "chat"]
    assert len(bare) > 100
    assert [name for name in bare if provider_of(name) != resolve_provider(name, None)] == []


@pytest.mark.parametrize(
    ("model", "base_url", "words"),
    [
        ("anthropc/claude-x", None, "there is no provider anthropc. Did you mean anthropic?"),
        ("zzz/model", None, "there is no provider zzz. docs.litellm.ai/docs/providers has them all"),
        ("gpt-4oo", None, "no provider is known for gpt-4oo. Did you mean gpt-4o?"),
        ("deepseek-chat", None,
         "no provider is known for deepseek-chat. Did you mean deepseek/deepseek-chat?"),
        ("my-model", None, "no provider is known for my-model. Write it as PROVIDER/MODEL"),
        ("meta-llama/L", "http://127.0.0.1:8000/v1",
         "a server at a base_url needs its protocol before the name: openai/meta-llama/L"),
    ],
)  # fmt: skip
def test_a_name_without_a_provider_gets_a_hint(model: str, base_url: str | None, words: str) -> None:
    assert provider_of(model, base_url) is None
    assert no_provider(model, base_url) == words


def test_a_misspelt_model_has_a_near_one_of_its_provider() -> None:
    assert near_model("anthropic/claude-sonet-4-5") == "anthropic/claude-sonnet-4-5"
    assert near_model("openai/claude-sonet-4-5") is None
    assert near_model("gpt-4o") is None


def test_common_names_are_resolved_without_importing_the_library() -> None:
    code = (
        "import sys; from agents.providers import near_model, provider_of; "
        "near_model('openai/gpt4o'); "
        "assert [provider_of(m) for m in ('gpt-4o', 'claude-sonnet-4-5', 'groq/x', 'demo/sharp')] "
        "== ['openai', 'anthropic', 'groq', 'demo']; "
        "sys.exit('litellm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
