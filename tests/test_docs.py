"""The docs say what the code does; that the pages made from it have not drifted, `make check` sees."""

import doctest
import re
from pathlib import Path
from textwrap import dedent

import pytest
from typer.testing import CliRunner

from agents.episode import DOCUMENTS
from agents.registry import kind, kinds
from arena.cli.main import app
from arena.config import load
from arena.config.environment import KEYS
from arena.config.listing import key_rows, sections
from tests.trusted import trust_all

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
WITH_EXAMPLES = sorted(page for page in DOCS.rglob("*.md") if ">>> " in page.read_text())


def test_some_pages_have_examples() -> None:
    assert [page.name for page in WITH_EXAMPLES] == ["money.md", "news.md", "universe.md"]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.name)
def test_the_examples_of_a_page_come_true(page: Path) -> None:
    ran = doctest.testfile(str(page), module_relative=False)
    assert ran.attempted > 0
    assert ran.failed == 0


def test_the_documents_of_an_episode_are_as_their_schemas_have_them() -> None:
    blocks = (DOCS / "outside.md").read_text("utf-8").split("```json\n")[1:]
    documents = [block.partition("```")[0] for block in blocks if block.startswith('{"version"')]
    for (name, model), text in zip(DOCUMENTS.items(), documents, strict=True):
        read = model.model_validate_json(text)
        assert read.model_dump(mode="json").items() >= {"version": 1}.items(), name
    assert list(DOCUMENTS) == ["view", "decision", "result"]


def anchors(page: Path) -> list[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return ["".join(c for c in x.lower() if c.isalnum() or c in "_- ").replace(" ", "-") for x in headings]


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_another_page_leads_somewhere(page: Path) -> None:
    lost = []
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page)):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_of_a_page_is_read_as_one(page: Path) -> None:
    lines = ["", *prose(page).splitlines(), ""]
    heads = [n for n in range(1, len(lines)) if lines[n].startswith("|") and not lines[n - 1].startswith("|")]
    assert [lines[n] for n in heads if not re.fullmatch(r"(\| ?:?-+:? ?)+\|", lines[n + 1])] == []


def test_no_two_headings_of_the_page_of_scores_are_alike() -> None:
    found = anchors(DOCS / "scoring.md")
    assert sorted(set(found)) == sorted(found)


SCORED = (DOCS / "score-a-file.md").read_text("utf-8")
FILES = re.findall(r"^`(\S+)`:\n\n```\n(.*?)^```$", SCORED, re.MULTILINE | re.DOTALL)
PLAYED = re.findall(r"^```\n\$ arena (.*?)\n(.*?)^```$", SCORED, re.MULTILINE | re.DOTALL)


def test_the_page_on_files_has_two_examples() -> None:
    assert [name for name, _ in FILES] == ["forecasts.csv", "cup.yaml", "cup.csv"]
    assert [command for command, _ in PLAYED] == ["score forecasts.csv", "score cup.yaml"]


@pytest.mark.parametrize(("command", "shown"), PLAYED, ids=[command for command, _ in PLAYED])
def test_the_examples_of_scoring_a_file_come_true(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES:
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(app, command.split())
    lines = [line.strip() for line in answer.stdout.strip().splitlines()]
    assert lines == [line.strip() for line in shown.strip().splitlines()]


def test_every_setting_says_what_it_means() -> None:
    rows = [(section.path, row) for section in sections() for row in section.keys]
    rows += [((name,), row) for name in kinds() for row in key_rows(kind(name).settings)]
    assert len(rows) > 100
    assert [(path, row.name) for path, row in rows if not row.meaning] == []


EXAMPLES = [
    dedent(block)
    for block in re.findall(r"(?:^    .*\n)+", (DOCS / "agents.md").read_text(), re.MULTILINE)
    if block.startswith("    - ")
]
OTHERS = ("- {name: sharp, model: demo/sharp}", "- {name: hasty, model: demo/hasty}")


def test_nearly_every_kind_has_an_example() -> None:
    shown = set(re.findall(r"kind: (\w+)", "".join(EXAMPLES)))
    assert set(kinds()) - shown == {"llm"}  # which is what an example without a kind is of


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.splitlines()[0])
def test_an_example_of_an_agent_can_be_played(block: str, tmp_path: Path) -> None:
    (tmp_path / "ann.csv").write_text("at,market,probability\n", "utf-8")
    (tmp_path / "mine.py").write_text("def decide(view, ask, edge): ...\n", "utf-8")
    others = [agent for agent in OTHERS if agent not in block]
    config = tmp_path / "config.yaml"
    config.write_text("\n".join(["markets: {venue: simulator}", "agents:", block, *others]), "utf-8")
    found = load(config, {"ANTHROPIC_API_KEY": "any"}, beside=True, allow=trust_all)
    assert len(found.agents) >= 2


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_on_the_code_names_is_there(page: str) -> None:
    named = re.findall(
        r"`((?:markets|portfolio|agents|arena|dashboard|tests|benchmarks)/[\w/.]*)`",
        (ROOT / page).read_text("utf-8"),
    )
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_glossary_is_short_and_in_order() -> None:
    words = re.findall(r"^\|([^|]+) \|", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)[1:]
    assert len(words) <= 15
    assert words == sorted(words, key=str.lower)


def test_the_site_leads_to_every_page() -> None:
    listed = re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2])
    beside = {"index.md", "contributing.md", "changes.md"}
    assert sorted(listed) == sorted({page.name for page in DOCS.glob("*.md")} | beside)


def test_a_provider_on_its_page_has_the_key_that_is_looked_for() -> None:
    told = re.findall(r"\|`(\w+_KEY)` \|`(\w+)/", (DOCS / "providers.md").read_text("utf-8"))
    assert len(told) == 10
    assert told == [(KEYS[provider][0], provider) for _, provider in told]
