"""The files of a repository that plays a public season by itself: its config, its workflows, and a README."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from agents.model import ModelSettings
from arena.config.environment import KEYS, key_variables
from arena.config.new_folder import GITIGNORE, NewArena, config_text, write_files

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
SETUP_PYTHON = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0"
USUAL_PROVIDERS = ("anthropic", "gemini", "openai", "openrouter")
PUBLIC_KEYS = """\
public: true               # agents are also the files of entrants/, and no code of this folder runs
run: {catalogue: off, quotes: off, backup: off}   # the record is kept on the branch `season`

"""
SEASON = """\
# Plays what is due, and puts record, heads and site on the branch `season`. Nobody but the owner starts it.
name: season
on:
  schedule:
    - cron: "17 */6 * * *"
  workflow_dispatch:
permissions:
  contents: read
concurrency:
  group: season
  cancel-in-progress: false
jobs:
  season:
    runs-on: ubuntu-latest
    timeout-minutes: 110
    permissions:
      contents: write # the branches season and season-log
    steps:
      - uses: {checkout}
      - uses: {setup_python}
        with:
          python-version: "3.11"
      - run: python -m pip install -r requirements.txt
      - run: arena run --publish
        env:
{keys}
"""
ENTRANT = """\
# Checks an entrant's pull request: the config, and a turn that a stand-in plays. There is no key here.
name: entrant
on:
  pull_request:
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: {checkout}
        with:
          persist-credentials: false
      - uses: {setup_python}
        with:
          python-version: "3.11"
      - run: python -m pip install -r requirements.txt
      - run: arena check
"""
README = """\
# A public season of Paper Arena

Language models bet play money on {venue}. Every six hours the workflow `season` plays what is due, and puts
it on the branch `season` before anyone can know how the markets end:

- `docs/`: the site, with the leaderboard
- `record/`: every prompt, answer, fill and cent, as plain files
- `heads.jsonl`: hashes over all of it, each over the one before

## Check it

    git clone URL clone
    arena admin verify --published clone

## Enter

Open a pull request that adds one file, `entrants/NAME.yaml`, and changes nothing else:

    model: anthropic/claude-sonnet-5
    reasoning: low

Its check lists every mistake and what a month costs, and lets a stand-in play one turn. Other keys of an
entrant: prompt, prices, samples, batch, context, tools, steps, max_tokens, reasoning, temperature, timeout,
released. Code, addresses, prices and extensions are refused. An entrant plays from the next cohort on.

For an agent of your own that plays from outside, the file says `kind: outside`; ask the owner for its key.

## Publish it (the owner)

1. Push this folder to a new repository:

       git init -b main && git add -A && git commit -m "A public season"
       git remote add origin URL && git push -u origin main

2. Under Settings, Secrets and variables, Actions: add the keys of the models, such as ANTHROPIC_API_KEY.
   Another provider's variable is one more line in `.github/workflows/season.yml`.
3. Under Actions, let first-time contributors' workflows wait for your approval. Then run `season`.
4. Under Settings, Pages: deploy from the branch `season`, folder `/docs`.
5. Under Settings, Rules: forbid force pushes to `season` and `season-log`, and deleting them.

Merge a pull request only if it adds one file in `entrants/`: you pay for its model, and `budget` in
`config.yaml` is what stops it. `requirements.txt` says which Paper Arena plays.
"""


FROM_FOLDER = """\
# Paper Arena was installed from a folder, so no server has it: add its wheel to this repository.
# python -m pip wheel --no-deps --wheel-dir . FOLDER
./paper_arena-{version}-py3-none-any.whl
"""


def make_public_folder(
    folder: Path, at: datetime, new: NewArena, requirement: str
) -> tuple[list[str], list[str]]:
    """Write the files of a public season's repository; return the names made, and those left as they are."""
    return write_files(folder, public_files(at, new, requirement))


def requirement_text(version: str, origin: str | None) -> str:
    """Return the requirement that installs this version from where it came, and from nowhere else.

    `origin` is what the installer noted in `direct_url.json`: nothing if it came from a package index. The
    workflow installs it beside the keys, so a name that somebody else may own would be no safe guess.
    """
    if origin is None:
        return f"paper-arena=={version}\n"

    source = json.loads(origin)
    revision = source.get("vcs_info")
    if revision is not None:
        return f"paper-arena @ {revision['vcs']}+{source['url']}@{revision['commit_id']}\n"
    if source["url"].startswith("https://"):
        return f"paper-arena @ {source['url']}\n"
    return FROM_FOLDER.format(version=version)


def public_files(at: datetime, new: NewArena, requirement: str) -> Mapping[str, str]:
    """Return the texts of a public season's repository, by their names."""
    before_markets, markets_line, after_markets = re.split(
        r"(?m)^(markets:.*\n)", config_text(new, at.date())
    )
    if new.venue != "simulator":
        # An honest forecast is then published before its market can end.
        after_markets = re.sub(
            r"(?m)^(  show: .*\n)",
            r"\g<1>  closes_after: 1d         # after a round is published\n",
            after_markets,
        )

    variables = {KEYS[provider][0] for provider in USUAL_PROVIDERS}
    for block in new.models:
        variables.update(key_variables(ModelSettings(model=block["model"]))[:1])
    keys = [f"          {name}: ${{{{ secrets.{name} }}}}" for name in sorted(variables)]

    actions = {"checkout": CHECKOUT, "setup_python": SETUP_PYTHON}
    return {
        "config.yaml": before_markets + PUBLIC_KEYS + markets_line + after_markets,
        ".github/workflows/season.yml": SEASON.format(**actions, keys="\n".join(keys)),
        ".github/workflows/entrant.yml": ENTRANT.format(**actions),
        "README.md": README.format(venue=new.venue),
        "requirements.txt": requirement,
        ".gitignore": f"{GITIGNORE}.season/\n",
    }
