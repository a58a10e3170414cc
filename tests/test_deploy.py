"""What the image, compose and the units say agrees with the program; where it would not, that is found."""

import shutil
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from agents.answers.decision_document import MOST_BYTES
from arena.operations.listen_addresses import DESK_PORT as PORT

ROOT = Path(__file__).resolve().parent.parent
FILES = ("Dockerfile", "compose.yaml", ".env.example", ".gitignore", ".dockerignore", "config.yaml")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("check_deploy", ROOT / "scripts" / "check_deploy.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Return the files in a folder of their own, with some words of one of them changed."""

    def change(name: str, old: str, new: str) -> Path:
        for file in FILES:
            shutil.copy(ROOT / file, tmp_path / file)
        shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
        shutil.copytree(ROOT / ".github", tmp_path / ".github")
        text = (tmp_path / name).read_text("utf-8")
        assert old in text, f"{name} has no {old!r}"
        (tmp_path / name).write_text(text.replace(old, new), "utf-8")
        return tmp_path

    return change


def test_all_is_well(script: ModuleType) -> None:
    assert [*script.faults(ROOT), *script.linters(ROOT)] == []


def test_the_proxy_reads_a_decision_whole_before_it_passes_it_to_the_desk() -> None:
    caddyfile = (ROOT / "deploy" / "Caddyfile").read_text("utf-8")
    block = caddyfile.partition("{$ARENA_DESK_DOMAIN")[2]
    assert f"reverse_proxy 127.0.0.1:{PORT} {{\n\t\trequest_buffers 1MB\n" in block
    assert "max_size 1MB" in block
    assert MOST_BYTES == 1_000_000, "what Caddy calls 1MB"


MISTAKES = [
    ("Dockerfile", "python:3.11-slim-bookworm AS", "python:latest AS", "from day to day"),
    ("Dockerfile", "python:3.11-slim-bookworm AS", "python AS", "from day to day"),
    ("Dockerfile", "python:3.11", "python:3.9", "no Python that the arena runs on"),
    ("Dockerfile", "USER 10001\n", "", "runs as root"),
    ("Dockerfile", "USER 10001", "USER 0", "runs as root"),
    ("Dockerfile", "8780/health", "9999/health", "HEALTHCHECK"),
    ("Dockerfile", "EXPOSE 8501", "EXPOSE 80", "EXPOSE"),
    ("Dockerfile", 'CMD ["run"]', 'CMD ["walk"]', "No such command 'walk'"),
    ("compose.yaml", "postgres:18-bookworm", "postgres:latest", "from day to day"),
    ("compose.yaml", '"--worker"]', '"--worker", "--fast"]', "No such option: --fast"),
    ("compose.yaml", "@db/arena", "@database/arena", "no service is at"),
    ("compose.yaml", "127.0.0.1:5432", "5432", "open to all"),
    ("compose.yaml", "stop_grace_period: 3m", "stop_grace_period: 20s", "it is killed after 20 s"),
    ("compose.yaml", "run: {condition: service_started}", "walk: {condition: service_started}", "walk"),
    ("compose.yaml", "arena_reader@127", "arena@127", "as arena, not as arena_reader"),
    ("compose.yaml", "secrets: [arena_reader]", "secrets: [arena_reader, keys]", "its secrets are"),
    ("compose.yaml", "PGPASSWORD_FILE: /run/secrets/arena\n", "PGPASSWORD: abc\n", "PGPASSWORD_FILE"),
    (
        "compose.yaml",
        "    secrets: [arena_reader]",
        "    env_file: .env\n    secrets: [arena_reader]",
        "nothing else",
    ),
    ("compose.yaml", "  - ./prompts:/data/prompts:ro\n", "", "./prompts is not mounted"),
    ("compose.yaml", "  keys: {file: ./secrets/keys}\n", "", "deploy/roles.sql"),
    ("compose.yaml", "  record:\n", "", "record is no volume"),
    (
        "compose.yaml",
        "restart: unless-stopped\n  init",
        "restart: no\n  restart: no\n  init",
        "duplicate key",
    ),
    (".env.example", "# GEMINI_API_KEY=", "", "GEMINI_API_KEY"),
    (".env.example", "# OPENAI_API_KEY=", "OPENAI_API_KEY=secret", "gives a value"),
    (".gitignore", ".env\n", "", ".env is not in it"),
    (".gitignore", "secrets/\n", "", "secrets/ is not in it"),
    (".dockerignore", "**/.env", "", "no .env"),
    ("deploy/arena-run.service", "arena run", "arena walk", "No such command 'walk'"),
    ("deploy/arena-run.service", "User=arena\n", "", "runs as root"),
    ("deploy/arena-run.service", "TimeoutStopSec=3min", "TimeoutStopSec=10s", "it is killed after 10 s"),
    ("deploy/arena-worker@.service", "Restart=on-failure", "", "there is no Restart"),
    ("deploy/arena-worker@.service", "WatchdogSec=10min\n", "", "nobody notices when it hangs"),
    ("deploy/arena-run.service", "StartLimitIntervalSec=0\n", "", "gives up"),
    ("deploy/arena-dashboard.service", "arena-dashboard.env", "arena.env", "can read the models' keys"),
    (
        ".github/workflows/ci.yml",
        "3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
        "v7",
        "can be replaced",
    ),
    (".github/workflows/release.yml", "  contents: read\n", "  contents: write\n", "isn't limited"),
]


@pytest.mark.parametrize(("name", "old", "new", "words"), MISTAKES)
def test_a_mistake_is_named(
    name: str,
    old: str,
    new: str,
    words: str,
    script: ModuleType,
    changed: Callable[[str, str, str], Path],
) -> None:
    found = [*script.faults(changed(name, old, new))]
    assert found
    assert any(words in fault and fault.startswith(Path(name).name) for fault in found), found
