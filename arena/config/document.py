"""A YAML file as plain data that remembers its lines. No objects, no aliases, no surprises."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from agents.secrets import SERVER_KEYS, credential_in, redact
from arena.config.code import TrustedCode
from arena.config.errors import ConfigError, ConfigErrors, Key, dotted_key, quoted_value
from arena.config.yaml_faults import yaml_fault

MOST_BYTES = 256_000
MOST_DEPTH = 20
TAG = "tag:yaml.org,2002:"
TEXT_TAGS = {f"{TAG}{name}" for name in ("str", "timestamp", "merge", "value")}
VALUE_TAGS = {f"{TAG}{name}" for name in ("null", "bool", "int", "float")}


@dataclass
class Document:
    """A config file's data, its hash, the line of every key, and the mistakes found so far."""

    file: str
    value: Any = None
    hash: str = ""
    lines: dict[Key, int] = field(default_factory=dict)
    errors: list[ConfigError] = field(default_factory=list)
    code: TrustedCode | None = None
    """What may be run of what lies beside the config; None where nothing is, and extensions stay unloaded."""

    def line(self, key: Key) -> int:
        """The line of a key; of the block it is missing from, where it isn't there."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)

    def add(self, key: Key, found: str, meant: str, message: str = "") -> None:
        """Note a mistake at a key."""
        words = redact(message or f"found {found}, expected {meant}")
        self.errors.append(
            ConfigError(self.file, self.line(key), dotted_key(key), redact(found), meant, words)
        )

    def check_addresses(self) -> None:
        """Note every address with a credential in it: what a config says is frozen, shown and published."""
        for key, text in _texts(self.value, ()):
            name = next((part for part in reversed(key) if isinstance(part, str)), "")
            if "://" in text and (what := credential_in(text.strip(), bare=name in SERVER_KEYS)):
                meant = f"an address without {what}"
                words = f"this address has {what}, and a config holds no secrets. {_remedy(key, name)}"
                self.add(key, "an address with a credential", meant, words)

    def get(self, *key: str | int) -> Any:
        """The value at a key, None where there is none."""
        value = self.value
        for part in key:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value


def read(path: Path) -> Document:
    """The file's data with its lines; a file that can't be read as such raises ConfigErrors."""
    document = Document(str(path))
    text = _text(document, path)
    try:
        _refuse_tricks(document, text)
        node = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        raise _syntax(document, error, text) from error
    if not isinstance(node, MappingNode):
        found = "nothing" if node is None else quoted_value(_value(document, node, ()))
        raise _fatal(document, 1, found, "keys and values, such as `seed: 1`")
    document.value = _value(document, node, ())
    return document


def _texts(value: Any, key: Key) -> Iterator[tuple[Key, str]]:
    """Every text in plain data, with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict | list):
        for part, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*key, part))


def _remedy(key: Key, name: str) -> str:
    """Where a credential belongs in place of an address."""
    if key[0] == "agents" or key[0] == "ask":
        return "Remove it, and name the environment variable that holds the key under api_key_env"
    if name == "webhook":
        return "Write `$` and the name of the environment variable that holds the address"
    if key == ("database",):
        return "Remove it, and put the password into PGPASSWORD or ~/.pgpass"
    return "Remove it; an extension can read a key from an environment variable"


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, as a config has its own; nothing where it can't be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _text(document: Document, path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        words = f"can't be read: {error.strerror}"
        if isinstance(error, FileNotFoundError):
            words = "this file does not exist. `arena init DIR` makes a folder with a config"
        raise _fatal(document, 0, "no file", "a config file", words) from error
    if len(data) > MOST_BYTES:
        raise _fatal(document, 1, f"more than {MOST_BYTES:,} bytes", f"at most {MOST_BYTES:,} bytes")
    document.hash = sha256(data).hexdigest()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _fatal(document, line, "bytes that are not text", "a text file in UTF-8") from error


def _refuse_tricks(document: Document, text: str) -> None:
    """Stop at anchors, aliases and deep nesting before any of them can grow."""
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        line = event.start_mark.line + 1
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, NodeEvent) and event.anchor is not None:
            found = f'the anchor or alias "{event.anchor}"'
            raise _fatal(document, line, found, "every value written out (shared settings go under `ask`)")
        if depth > MOST_DEPTH:
            raise _fatal(document, line, "blocks nested too deeply", "the keys of a config")


def _value(document: Document, node: Node, key: Key) -> Any:
    document.lines.setdefault(key, node.start_mark.line + 1)
    match node:
        case MappingNode():
            return dict(_pairs(document, node, key))
        case SequenceNode():
            return [_value(document, child, (*key, place)) for place, child in enumerate(node.value)]
    return _scalar(document, node, key)


def _pairs(document: Document, node: MappingNode, key: Key) -> Iterator[tuple[str, Any]]:
    seen: dict[str, int] = {}
    for name, child in node.value:
        line = name.start_mark.line + 1
        text = name.value if isinstance(name, ScalarNode) else quoted_value([])
        if text in seen:
            where = ConfigError(
                document.file, line, dotted_key((*key, text)), f'"{text}" again', "each key once",
                f"this key is already on line {seen[text]}",
            )  # fmt: skip
            document.errors.append(where)
            continue
        seen[text] = line
        document.lines[(*key, text)] = line
        yield text, _value(document, child, (*key, text))


def _scalar(document: Document, node: Node, key: Key) -> Any:
    if node.tag in TEXT_TAGS:
        return node.value
    if node.tag not in VALUE_TAGS:
        return document.add(key, f"the tag {node.tag}", "a plain value")
    try:
        value = YAML(typ="safe", pure=True).constructor.construct_object(node)
        if not isinstance(value, float) or isfinite(value):
            return value
    except ValueError:
        pass  # said below: neither .nan nor digits without end are a number here
    return document.add(key, quoted_value(node.value), "a smaller number")


def _syntax(document: Document, error: YAMLError, text: str) -> ConfigErrors:
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return _fatal(document, line, "characters that YAML forbids", "a text file in UTF-8")
    if not isinstance(error, MarkedYAMLError):
        return _fatal(document, 1, "it can't be read", "YAML", "not YAML: it can't be read")

    line, words = yaml_fault(text, error)
    if "'\\t'" in str(error.problem):
        return _fatal(document, line, "a tab", "spaces (YAML forbids tabs for indentation)")
    return _fatal(document, max(line, 1), words, "YAML", words)


def _fatal(document: Document, line: int, found: str, meant: str, message: str = "") -> ConfigErrors:
    words = message or f"found {found}, expected {meant}"
    return ConfigErrors([*document.errors, ConfigError(document.file, line, "", found, meant, words)])
