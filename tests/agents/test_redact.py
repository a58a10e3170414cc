"""Keys show nowhere, whatever form an error gives them."""

import pytest

from agents.redact import HIDDEN, redacted, secrets_in, without

CANARY = "canary-0123456789"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: {}",
        "{{'Authorization': 'Bearer {}'}}",
        "Authorization: Basic {}",
        '{{"authorization": "{}"}}',
        "x-api-key: {}",
        "api_key={}",
        "https://example.org/v1/models?key={}&alt=json",
        "the token is Bearer {}, says the server",
    ],
)
def test_what_stands_where_a_key_stands_is_hidden(text: str) -> None:
    said = redacted(text.format(CANARY))
    assert CANARY not in said
    assert HIDDEN in said


@pytest.mark.parametrize(
    "key", ["sk-proj-abcdefghijklmnop", "AIzaSyA1234567890abcdef", "gsk_abcdefghijklmnop"]
)
def test_what_looks_like_a_key_is_hidden_anywhere(key: str) -> None:
    assert key not in redacted(f"I was given {key} just now")


def test_plain_words_stay() -> None:
    said = "the model gpt-4o does not exist, or your key has no access to it; ask-me-anything-else-later"
    assert redacted(said) == said


def test_the_values_of_secret_variables_are_known_longest_first() -> None:
    environ = {"A_KEY": "12345678", "B_TOKEN": "1234567890", "C_SECRET": "short", "HOME": "somewhere-long"}
    assert secrets_in(environ) == ("1234567890", "12345678")
    assert without("1234567890 12345678", secrets_in(environ)) == f"{HIDDEN} {HIDDEN}"
