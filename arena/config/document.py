"""A YAML file as plain data that remembers its lines, without objects and aliases."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite, nan
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
    """A config file's data, its hash, the line of every key, and the mistakes noted so far."""

    file: str
    value: Any = None
    hash: str = ""
    lines: dict[Key, int] = field(default_factory=dict)
    errors: list[ConfigError] = field(default_factory=list)
    code: TrustedCode | None = None
    """The code beside the config that may run; None if none may, so that extensions stay unloaded."""
    files: dict[Key, str] = field(default_factory=dict)
    """The files of agents defined in their own files, by the agents' keys."""

    def line(self, key: Key) -> int:
        """Return the line of a key, or of the block from which it is missing."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)

    def add_error(self, key: Key, found: str, meant: str, message: str = "") -> None:
        """Note a mistake at a key."""
        text = redact(message or f"found {found}, expected {meant}")
        file = self.files.get(key[:2], self.file)
        mistake = ConfigError(file, self.line(key), dotted_key(key), redact(found), meant, text)
        self.errors.append(mistake)

    def check_addresses(self) -> None:
        """Note every address that contains a credential, since a config is frozen, shown and published."""
        for key, text in _texts_with_keys(self.value, ()):
            if "://" not in text:
                continue

            # The innermost name of the key: indexes of lists are left out.
            name = next((part for part in reversed(key) if isinstance(part, str)), "")
            credential = credential_in(text.strip(), bare=name in SERVER_KEYS)
            if credential:
                meant = f"an address without {credential}"
                message = (
                    f"this address has {credential}, and a config holds no secrets. "
                    f"{_credential_remedy(key, name)}"
                )
                self.add_error(key, "an address with a credential", meant, message)

    def get(self, *key: str | int) -> Any:
        """Return the value at a key; None if there is none."""
        value = self.value
        for part in key:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value


def read(path: Path) -> Document:
    """Return a file's data with its lines; raise `ConfigErrors` unless it is YAML with keys and values."""
    document = Document(str(path))
    text = _read_text(document, path)

    try:
        _refuse_aliases_and_deep_nesting(document, text)
        root = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        raise _syntax_errors(document, error, text) from error

    if not isinstance(root, MappingNode):
        found = "nothing" if root is None else quoted_value(_plain_value(document, root, ()))
        raise _with_final_error(document, 1, found, "keys and values, such as `seed: 1`")
    document.value = _plain_value(document, root, ())
    return document


def _texts_with_keys(value: Any, key: Key) -> Iterator[tuple[Key, str]]:
    """Yield every text in plain data, with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts_with_keys(inner, (*key, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts_with_keys(inner, (*key, index))


def _credential_remedy(key: Key, name: str) -> str:
    """Return where a credential belongs, in words."""
    if key[0] in ("agents", "ask"):
        return "Remove it, and name the environment variable that holds the key under api_key_env"
    if name == "webhook":
        return "Write `$` and the name of the environment variable that holds the address"
    if key == ("database",):
        return "Remove it, and put the password into PGPASSWORD or ~/.pgpass"
    return "Remove it; an extension can read a key from an environment variable"


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it can't be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read_text(document: Document, path: Path) -> str:
    """Return the text of a file, and set the document's hash; raise `ConfigErrors` if it can't be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        message = f"can't be read: {error.strerror}"
        if isinstance(error, FileNotFoundError):
            message = "this file does not exist. `arena init DIR` makes a folder with a config"
        raise _with_final_error(document, 0, "no file", "a config file", message) from error

    if len(data) > MOST_BYTES:
        raise _with_final_error(
            document, 1, f"more than {MOST_BYTES:,} bytes", f"at most {MOST_BYTES:,} bytes"
        )

    document.hash = sha256(data).hexdigest()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _with_final_error(document, line, "bytes that are not text", "a text file in UTF-8") from error


def _refuse_aliases_and_deep_nesting(document: Document, text: str) -> None:
    """Raise `ConfigErrors` for anchors, aliases and deep nesting, before they can expand."""
    depth = 0

    for event in YAML(typ="safe", pure=True).parse(text):
        line = event.start_mark.line + 1
        if isinstance(event, NodeEvent) and event.anchor is not None:
            found = f'the anchor or alias "{event.anchor}"'
            expected = "every value written out (shared settings go under `ask`)"
            raise _with_final_error(document, line, found, expected)

        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if depth > MOST_DEPTH:
            raise _with_final_error(document, line, "blocks nested too deeply", "the keys of a config")


def _plain_value(document: Document, node: Node, key: Key) -> Any:
    """Return the plain data of a node, and remember the lines of its keys."""
    document.lines.setdefault(key, node.start_mark.line + 1)
    if isinstance(node, MappingNode):
        return dict(_pairs(document, node, key))
    if isinstance(node, SequenceNode):
        return [_plain_value(document, child, (*key, index)) for index, child in enumerate(node.value)]
    return _plain_scalar(document, node, key)


def _pairs(document: Document, node: MappingNode, key: Key) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a block, noting duplicate keys."""
    names = set[str]()
    for name_node, child in node.value:
        line = name_node.start_mark.line + 1
        name = name_node.value if isinstance(name_node, ScalarNode) else quoted_value([])
        inner_key = (*key, name)

        if name in names:
            message = f"this key is already on line {document.lines[inner_key]}"
            mistake = ConfigError(
                document.file, line, dotted_key(inner_key), f'"{name}" again', "each key once", message
            )
            document.errors.append(mistake)
            continue

        names.add(name)
        document.lines[inner_key] = line
        yield name, _plain_value(document, child, inner_key)


def _plain_scalar(document: Document, node: Node, key: Key) -> Any:
    """Return a single value; None, with the mistake noted, if a config can't hold it."""
    if node.tag in TEXT_TAGS:
        return node.value
    if node.tag not in VALUE_TAGS:
        document.add_error(key, f"the tag {node.tag}", "a plain value")
        return None

    try:
        value = YAML(typ="safe", pure=True).constructor.construct_object(node)
    except ValueError:  # too many digits
        value = nan
    if isinstance(value, float) and not isfinite(value):
        document.add_error(key, quoted_value(node.value), "a smaller number")
        return None
    return value


def _syntax_errors(document: Document, error: YAMLError, text: str) -> ConfigErrors:
    """Return the errors of a text that is not YAML."""
    if isinstance(error, ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return _with_final_error(document, line, "characters that YAML forbids", "a text file in UTF-8")
    if not isinstance(error, MarkedYAMLError):
        return _with_final_error(document, 1, "it can't be read", "YAML", "not YAML: it can't be read")

    line, fault = yaml_fault(text, error)
    if "'\\t'" in str(error.problem):
        return _with_final_error(document, line, "a tab", "spaces (YAML forbids tabs for indentation)")
    return _with_final_error(document, max(line, 1), fault, "YAML", fault)


def _with_final_error(
    document: Document, line: int, found: str, meant: str, message: str = ""
) -> ConfigErrors:
    """Return the mistakes noted so far, with a final one."""
    text = message or f"found {found}, expected {meant}"
    return ConfigErrors([*document.errors, ConfigError(document.file, line, "", found, meant, text)])
