"""What isn't YAML, or isn't meant well, is refused in one line that says where."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.config import ConfigErrors, load
from arena.config.document import MOST_BYTES, read
from tests.arena.config_files import SMALL, told, write

REFUSED = {
    "": "config.yaml:1: found nothing, expected keys and values, such as `seed: 1`",
    "# only a comment\n": "config.yaml:1: found nothing, expected keys and values, such as `seed: 1`",
    "- a\n- b\n": "config.yaml:1: found a list, expected keys and values, such as `seed: 1`",
    "hello\n": 'config.yaml:1: found "hello", expected keys and values, such as `seed: 1`',
    "seed: 1\nmarkets:\n\tvenue: simulator\n": (
        "config.yaml:3: found a tab, expected spaces (YAML forbids tabs for indentation)"
    ),
    "seed: 1\nask: [1, 2\n": "config.yaml:2: the `[` on this line is not closed: `]` or a comma is missing",
    "seed: 1\nask: b: c\n": "config.yaml:2: a value with a colon and a space needs quotation marks",
    "markets:\n  venue: simulator\n  show:40\nagents:\n  - kind: market\n": (
        "config.yaml:3: a space is missing after the colon: write `show: 40`"
    ),
    "markets:\n  show:40\n  venue: simulator\n": (
        "config.yaml:2: a space is missing after the colon: write `show: 40`"
    ),
    "markets: {venue: simulator\nagents:\n  - kind: market\n": (
        "config.yaml:1: the `{` on this line is not closed: `}` or a comma is missing"
    ),
    "seed: 1\nagents:\n  - {kind: market\n  - {kind: constant}\n": (
        "config.yaml:3: the `{` on this line is not closed: `}` or a comma is missing"
    ),
    "markets:\n  venue: simulator\n   show: 40\n": (
        "config.yaml:3: this line is indented further than the line above it, which has a value already"
    ),
    "markets:\n   venue: simulator\n  show: 40\n": (
        "config.yaml:3: the indentation of this line fits no block above it"
    ),
    'markets:\n  venue: "simulator\nseed: 1\n': (
        "config.yaml:2: the quotation mark on this line is not closed"
    ),
    "markets:\n  venue: @x\n": "config.yaml:2: a value that begins with @ needs quotation marks",
    "seed: 1\n---\nseed: 2\n": (
        "config.yaml:2: not YAML: expected a single document in the stream but found another document"
    ),
    "seed: 1\nask: \x07\n": (
        "config.yaml:2: found characters that YAML forbids, expected a text file in UTF-8"
    ),
    "a: &x [1]\nb: *x\n": (
        'config.yaml:1: found the anchor or alias "x", '
        "expected every value written out (shared settings go under `ask`)"
    ),
    "seed: 1\nask: " + "[" * 60: (
        "config.yaml:2: found blocks nested too deeply, expected the keys of a config"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REFUSED.items(), ids=[repr(text)[:30] for text in REFUSED])
def test_what_is_no_config_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    assert told(tmp_path, text) == [said]


def test_a_bomb_of_aliases_is_refused_before_it_grows(tmp_path: Path) -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    (said,) = told(tmp_path, "a0: &a0 [x]\n" + levels)
    assert said.startswith('config.yaml:1: found the anchor or alias "a0"')


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigErrors, match=r"none.yaml: this file does not exist. `arena init DIR` makes"):
        load(tmp_path / "none.yaml")
    with pytest.raises(ConfigErrors, match=r": can't be read: Is a directory$"):
        load(tmp_path)


def test_a_huge_file_and_one_that_is_no_text_are_refused(tmp_path: Path) -> None:
    assert told(tmp_path, "#" * (MOST_BYTES + 1)) == [
        "config.yaml:1: found more than 256,000 bytes, expected at most 256,000 bytes"
    ]
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"seed: 1\nname: \xff\xfe\x00")
    with pytest.raises(ConfigErrors, match=r"binary.yaml:2: found bytes that are not text"):
        load(path)


def test_a_key_that_is_there_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    text = "seed: 1\n" + SMALL + "seed: 2\n"
    assert told(tmp_path, text) == ["config.yaml:8: seed: this key is already on line 1"]
    nested = SMALL.replace("kind: market", "kind: market\n    kind: constant")
    assert told(tmp_path, nested) == ["config.yaml:7: agents[0].kind: this key is already on line 6"]


def test_objects_and_numbers_without_bounds_are_refused(tmp_path: Path) -> None:
    (tag,) = told(tmp_path, SMALL.replace("rounds: 5", "rounds: !!python/object:os.system x"))[:1]
    assert tag == (
        "config.yaml:4: cohorts.rounds: found the tag tag:yaml.org,2002:python/object:os.system, "
        "expected a plain value"
    )
    for number in (".nan", ".inf", "1e999", "9" * 5_000):
        said = told(tmp_path, SMALL.replace("rounds: 5", f"bankroll: {number}"))[0]
        assert said.startswith("config.yaml:4: cohorts.bankroll: found")
        assert said.endswith("expected a smaller number")


def test_yaml_is_of_version_1_2(tmp_path: Path) -> None:
    path = write(tmp_path, "a: no\nb: 0o17\nc: 017\nd: 1_000\ne: 2026-01-04\nf: 1e3\ng: 12:30\nh: ~\n")
    assert read(path).value == {
        "a": "no", "b": 15, "c": 17, "d": 1000, "e": "2026-01-04", "f": 1000.0, "g": "12:30", "h": None,
    }  # fmt: skip


def test_lines_are_those_of_keys_and_items(tmp_path: Path) -> None:
    document = read(
        write(tmp_path, "# first\na:\n  - b: 1\n    c:\n      - x\n      - y\n\nd: {e: 1,\n  f: 2}\n")
    )
    assert document.line(("a",)) == 2
    assert document.line(("a", 0, "b")) == 3
    assert document.line(("a", 0, "c", 1)) == 6
    assert document.line(("d", "e")) == 8
    assert document.line(("d", "f")) == 9
    assert document.line(("a", 0, "missing", "deeper")) == 3


@given(st.text(alphabet="ab:-[]{}&*!|>%@#'\"?,\n\t \\0~<=.", max_size=60))
def test_any_text_of_yaml_marks_is_a_config_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = write(tmp_path_factory.mktemp("text"), text)
    with pytest.raises(ConfigErrors):
        load(path)
