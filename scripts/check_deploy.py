"""Check that Dockerfile, compose.yaml and the units in deploy/ fit the program, and give away nothing."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from arena.cli.main import app
from arena.cli.options import Options
from arena.config.new_folder import ENV_EXAMPLE
from arena.config.sections import RunSection
from arena.operations.listen_addresses import DASHBOARD_PORT as PORT

ROOT = Path(__file__).resolve().parent.parent
COMMAND = get_command(app)
HEALTH = 8780
"""The port of the health endpoint of `arena run`."""
UNITS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}
YAML_RULES = "{extends: default, rules: {line-length: {max: 110}, document-start: disable, braces: disable}}"


def faults(root: Path) -> Iterator[str]:
    """Yield everything that is wrong, a line each."""
    yield from dockerfile(root)
    yield from compose(root)
    for path in sorted((root / "deploy").glob("*.service")):
        yield from unit(path)
    for path in sorted((root / ".github" / "workflows").glob("*.yml")):
        yield from workflow(path)
    yield from secrets(root)


def dockerfile(root: Path) -> Iterator[str]:
    """Yield what is wrong with the image: its bases, its user, its ports and its command."""
    text = (root / "Dockerfile").read_text("utf-8")
    lines = [line.split(maxsplit=1) for line in re.sub(r"\\\n", " ", text).splitlines() if line[:1].isalpha()]
    instructions = [(word, rest.strip()) for word, rest in lines]
    for base in (rest.split()[0] for word, rest in instructions if word == "FROM"):
        yield from image("Dockerfile", base)
        version = re.match(r"python:([\d.]+)", base)
        if version is None or version[1] not in SpecifierSet(">=3.11"):
            yield f"Dockerfile: {base} is no Python that the arena runs on"
    last = dict(instructions)
    if last.get("USER", "root").split(":")[0] in ("root", "0"):
        yield "Dockerfile: it runs as root: end with another USER"
    if last.get("EXPOSE", "").split() != [str(PORT), str(HEALTH)]:
        yield f"Dockerfile: EXPOSE {PORT} {HEALTH} are the ports of the dashboard and of the health endpoint"
    if f"http://127.0.0.1:{HEALTH}/health" not in last.get("HEALTHCHECK", ""):
        yield f"Dockerfile: HEALTHCHECK asks for http://127.0.0.1:{HEALTH}/health"
    words = [*listed(last.get("ENTRYPOINT", "")), *listed(last.get("CMD", ""))]
    yield from (f"Dockerfile: {fault}" for fault in command_line(words))


def listed(text: str) -> list[str]:
    """Return the words of an instruction in its JSON form."""
    return re.findall(r'"([^"]*)"', text)


def compose(root: Path) -> Iterator[str]:
    """Yield what is wrong with the services: their commands, databases, ports and dependencies."""
    try:
        whole = YAML(typ="safe").load(root / "compose.yaml")
    except YAMLError as error:
        yield f"compose.yaml: {error}"
        return
    services: dict[str, dict[str, Any]] = whole["services"]
    roles = set(re.findall(r"CREATE ROLE (\w+)", (root / "deploy" / "roles.sql").read_text("utf-8")))
    if {"postgres", "keys", *roles} != set(whole["secrets"]):
        yield f"compose.yaml: secrets are those of deploy/roles.sql, postgres and keys: {sorted(roles)}"
    missing = {"db", "run", "worker", "dashboard"} - services.keys()
    if missing:
        yield f"compose.yaml: there is no service {', '.join(sorted(missing))}"
    for name, service in services.items():
        faults = [*image(name, service["image"]), *service_faults(service, services, whole["volumes"])]
        yield from (f"compose.yaml: {name}: {fault}" for fault in faults)


def service_faults(
    service: dict[str, Any], services: dict[str, Any], volumes: dict[str, Any]
) -> Iterator[str]:
    """Yield what is wrong with one service."""
    if "build" in service:
        yield from command_line(["arena", *service["command"]], services, service)
        yield from patient(service["command"], seconds(service.get("stop_grace_period", "10s")))
        yield from least(service)
    if service.get("privileged") or str(service.get("user", "")).split(":")[0] in ("0", "root"):
        yield "it runs as root"
    for other in set(service.get("depends_on", {})) - services.keys():
        yield f"it depends on {other}, which is no service"
    for port in (port for port in service.get("ports", []) if not str(port).startswith("127.0.0.1:")):
        yield f"port {port} is open to all: begin it with 127.0.0.1:"
    for source in (volume.split(":")[0] for volume in service.get("volumes", [])):
        if source not in volumes and not source.startswith("./"):
            yield f"{source} is no volume"


ROLES = {"--worker": "arena_worker", "run": "arena", "dashboard": "arena_reader"}
"""The role of each command in the database."""
OF_FOLDER = ("./config.yaml", "./extensions", "./prompts")
"""Files and folders that a config may name, which processes that play need."""


def least(service: dict[str, Any]) -> Iterator[str]:
    """Yield where a service has more or less than it needs: role, keys, environment and files."""
    command = next((word for word in ROLES if word in service["command"]), "")
    role = ROLES.get(command, "")
    plays = command != "dashboard"
    user = re.search(r"//(\w+)@", " ".join(service["command"]))
    if user is None or user[1] != role:
        yield f"it comes to the database as {user and user[1]}, not as {role}"
    given = {each if isinstance(each, str) else each["source"] for each in service.get("secrets", [])}
    if given != {role, *(["keys"] if plays else [])}:
        yield f"its secrets are {sorted(given)}, not {role}{' and keys' if plays else ''}"
    wanted = {"PGPASSWORD_FILE": f"/run/secrets/{role}"}
    if plays:
        wanted["ARENA_TRUST_EXTENSIONS"] = "/data"
    if service.get("env_file") or service.get("environment") != wanted:
        yield f"its environment should be {wanted}, and nothing else"
    sources = [volume.split(":")[0] for volume in service.get("volumes", [])]
    for path in (path for path in OF_FOLDER if plays and path not in sources):
        yield f"{path} is not mounted, and the config may name what stands in it"


def image(place: str, name: str) -> Iterator[str]:
    """Yield a fault if an image names no fixed version."""
    tag = name.rpartition("/")[2].partition(":")[2]
    if not tag or tag.startswith("latest"):
        yield f"{place}: the image {name} is another one from day to day: name its version"


PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d[\d.]*")
"""An action by its digest, with the version that it is."""


def workflow(path: Path) -> Iterator[str]:
    """Yield the actions that are not pinned, and whether a workflow may write more than it needs."""
    text = path.read_text("utf-8")
    for action in re.findall(r"(?m)^ *- uses: *(.+)$", text):
        if PINNED.fullmatch(action) is None:
            yield f"{path.name}: the action {action} can be replaced: name its digest, then # and its version"
    if "permissions:\n  contents: read\n" not in text:
        yield f"{path.name}: what it may write isn't limited: begin with permissions: contents: read"


def unit(path: Path) -> Iterator[str]:
    """Yield what is wrong with a systemd unit: its command, its user and the time it has to stop."""
    lines = [line.partition("=") for line in path.read_text("utf-8").splitlines() if "=" in line]
    keys = {key: value for key, _, value in lines if key.isalnum()}
    program, *words = keys.get("ExecStart", "").split()
    if not program.endswith("/bin/arena"):
        yield f"{path.name}: ExecStart runs {program}, not arena"
    faults = [*command_line(["arena", *words]), *patient(words, seconds(keys.get("TimeoutStopSec", "90s")))]
    yield from (f"{path.name}: {fault}" for fault in faults)
    if keys.get("User", "root") == "root":
        yield f"{path.name}: it runs as root: name another User"
    for key in ("Restart", "NoNewPrivileges", "ProtectSystem", "WantedBy"):
        if key not in keys:
            yield f"{path.name}: there is no {key}"
    yield from (f"{path.name}: {fault}" for fault in supervised(words, keys))


def supervised(words: list[str], keys: dict[str, str]) -> Iterator[str]:
    """Yield a fault if a unit may give up, hang unnoticed, or read model keys without need."""
    if keys.get("StartLimitIntervalSec") != "0":
        yield "it gives up when it can't be started for a while: StartLimitIntervalSec=0"
    if "dashboard" in words:
        if keys.get("EnvironmentFile") == "/etc/paper-arena.env" or "InaccessiblePaths" not in keys:
            yield "it can read the models' keys"
    elif keys.get("Type") != "notify" or "WatchdogSec" not in keys:
        yield "nobody notices when it hangs: Type=notify and WatchdogSec=…"


def command_line(
    words: list[str], services: dict[str, Any] | None = None, service: dict[str, Any] | None = None
) -> Iterator[str]:
    """Yield what the program refuses in a command line, and a database that no service offers."""
    if words[:1] != ["arena"]:
        yield f"{' '.join(words)} does not run arena"
        return
    try:
        context, _ = parsed(words[1:])
    except TyperException as error:
        yield f"{' '.join(words)}: {error.format_message()}"
        return
    if services is None or service is None:
        return
    host = re.match(r"postgresql\+psycopg://\w+@([\w.]+)/arena$", str(context.params.get("database")))
    on_host = service.get("network_mode") == "host"
    if host is None or host[1] not in (("127.0.0.1",) if on_host else services):
        yield f"no service is at {context.params.get('database')}"


def parsed(words: list[str]) -> tuple[Any, Any]:
    """Return the contexts of the program and of the command of a command line, without running it."""
    command: Any = COMMAND
    first = inner = command.make_context("arena", list(words), obj=Options())
    while isinstance(command, TyperGroup):
        name, command, left = command.resolve_command(inner, [*inner._protected_args, *inner.args])
        inner = command.make_context(name, left, parent=inner)
    return first, inner


def patient(words: list[str], allowed: float) -> Iterator[str]:
    """Yield a fault if a process is killed before it can stop cleanly."""
    try:
        _, inner = parsed(words)
    except TyperException:
        return
    grace = RunSection().grace
    if inner.info_name == "run" and allowed <= grace:
        yield f"it is killed after {allowed:g} s, and takes up to {grace:g} s to end"


def seconds(text: str) -> float:
    """Return a duration in seconds.

    >>> seconds("3min"), seconds("1m"), seconds("90")
    (180.0, 60.0, 90.0)
    """
    match = re.fullmatch(r"([\d.]+)\s*([a-z]*)", text)
    if match is None or match[2] not in {"", *UNITS}:
        raise ValueError(f"{text!r} is no time such as 90s or 3min")
    return float(match[1]) * UNITS.get(match[2], 1)


def secrets(root: Path) -> Iterator[str]:
    """Yield secrets that are not listed, or not kept out of the repository and the image."""
    example = (root / ".env.example").read_text("utf-8")
    listed_here, keys = (set(re.findall(r"(?m)^# ([A-Z_]+)=", text)) for text in (example, ENV_EXAMPLE))
    if listed_here != keys:
        yield f".env.example: it differs from what `arena init` writes in {sorted(listed_here ^ keys)}"
    if re.search(r"(?m)^[^#\s][^=]*=.", example):
        yield ".env.example: it gives a value"
    missing = {".env", "secrets/"} - set((root / ".gitignore").read_text("utf-8").split())
    if missing:
        yield f".gitignore: {', '.join(sorted(missing))} is not in it"
    if not {"*", "**/.env"} <= set((root / ".dockerignore").read_text("utf-8").split()):
        yield ".dockerignore: only what is named may go into the image, and no .env"


def linters(root: Path) -> Iterator[str]:
    """Yield the complaints of hadolint, yamllint and systemd-analyze, where they are installed."""
    programs = Path(sys.executable).parent
    for name, words in (
        ("hadolint", [root / "Dockerfile"]),
        ("yamllint", ["--strict", "-d", YAML_RULES, root / "compose.yaml"]),
    ):
        if (programs / name).exists():
            yield from complaints([programs / name, *words])
    verify = shutil.which("systemd-analyze")
    if verify:
        with TemporaryDirectory() as folder:
            for path in (root / "deploy").glob("*.service"):
                text = re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={sys.executable}", path.read_text("utf-8"))
                (Path(folder) / path.name).write_text(text, "utf-8")
            yield from complaints([verify, "verify", "--man=no", *sorted(Path(folder).iterdir())])


def complaints(words: list[Any]) -> Iterator[str]:
    """Yield the output of a linter that fails."""
    process = subprocess.run(words, check=False, capture_output=True, text=True)
    if process.returncode:
        yield (process.stdout + process.stderr).strip() or f"{words[0]} ended with {process.returncode}"


if __name__ == "__main__":
    found = [*faults(ROOT), *linters(ROOT)]
    if found:
        sys.exit("\n".join(found))
