"""Keys show nowhere, whatever form an error gives them."""

import json
from base64 import b64encode
from html import escape
from urllib.parse import quote

import pytest

from agents.secrets import HIDDEN, redact, remove_secrets, secrets_in

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
    said = redact(text.format(CANARY))
    assert CANARY not in said
    assert HIDDEN in said


@pytest.mark.parametrize(
    "key", ["sk-proj-abcdefghijklmnop", "AIzaSyA1234567890abcdef", "gsk_abcdefghijklmnop"]
)
def test_what_looks_like_a_key_is_hidden_anywhere(key: str) -> None:
    assert key not in redact(f"I was given {key} just now")


def test_plain_words_stay() -> None:
    said = "the model gpt-4o does not exist, or your key has no access to it; ask-me-anything-else-later"
    assert redact(said) == said


def test_the_values_of_secret_variables_are_known_longest_first() -> None:
    environ = {"A_KEY": "12345678", "B_TOKEN": "1234567890", "C_SECRET": "short", "HOME": "somewhere-long"}
    secrets = secrets_in(environ)
    assert [secret for secret in secrets if secret in environ.values()] == ["1234567890", "12345678"]
    assert list(map(len, secrets)) == sorted(map(len, secrets), reverse=True)
    assert remove_secrets("1234567890 12345678 short somewhere-long", secrets) == (
        f"{HIDDEN} {HIDDEN} short somewhere-long"
    )


def test_what_is_named_as_a_key_is_one() -> None:
    environ = {"LOCAL_AUTH": CANARY, "HOME": "somewhere-long"}
    assert remove_secrets(CANARY, secrets_in(environ)) == CANARY
    assert (
        remove_secrets(f"{CANARY} somewhere-long", secrets_in(environ, "LOCAL_AUTH"))
        == f"{HIDDEN} somewhere-long"
    )


ODD_KEY = 'ca"na/ry+0&1\\2=é'


@pytest.mark.parametrize(
    "form",
    [
        ODD_KEY,
        json.dumps(ODD_KEY),
        json.dumps(ODD_KEY, ensure_ascii=False),
        json.dumps({"error": f"no such key: {ODD_KEY}"}),
        repr(ODD_KEY),
        quote(ODD_KEY),
        quote(ODD_KEY, safe=""),
        escape(ODD_KEY),
        b64encode(ODD_KEY.encode()).decode(),
    ],
)
def test_a_key_is_hidden_in_every_form_that_it_may_come_back_in(form: str) -> None:
    said = remove_secrets(f"<{form}>", secrets_in({"MY_KEY": ODD_KEY}))
    assert HIDDEN in said
    assert not any(piece in said for piece in ("na", "ry", "%2", "Y2E"))


@pytest.mark.parametrize(
    "seed", ["b", "ä.", "a.", "a://", "?key", "key.", "bearer ", "authorization", "sk-", "http://a"]
)
def test_a_long_text_takes_no_longer_than_its_length(seed: str) -> None:
    """A search that looked back from every place would take hours."""
    text = seed * (100_000 // len(seed))
    assert len(redact(text)) > 0
    assert redact(f"?key={text}")[:13] == "?key=[hidden]"
