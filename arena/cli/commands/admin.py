"""`arena admin`: care for the record: check it, back it up, restore it, prune it."""

from pathlib import Path

from arena.cli.options import DEFAULT, Options, argument, command, flag, option
from arena.errors import ArenaError


@command()
def verify(
    chosen: Options,
    everything: bool = flag("Verify everything, and list all differences.", "--all"),
    heads: Path | None = option("Also compare published heads, a line of JSON each.", "FILE"),
    draws: bool = flag("Also draw every live round's markets again from its catalogue."),
    by_referee: bool = flag("Also work out money and scores from an export, by other code.", "--referee"),
    published: Path | None = option("Verify a public season from a clone of its repository.", "CLONE"),
) -> None:
    """Play the record again, and compare what comes out.

    Decisions, fills, ledgers, settlements and marks must come out as stored, and hashes must fit.
    Later runs verify only what is new, by a note next to the record (FILE.verified; for a database server,
    next to the config), and say how many older rows they did not read. The first thousand differences are
    listed (exit status 1). A record rewritten with all its hashes still agrees with itself, so --heads FILE
    finds the first published head that differs. --draws shows that nobody picked the markets of a live round.
    --referee has an export checked by code that shares nothing with the arena.

    --published needs no config and no record: it finds in a clone's history and heads whether every forecast
    was published before the market's end, and whether history was rewritten.

    Example: arena admin verify --database .demo/demo.db

        .demo/demo.db agrees with itself: every hash, balance, fill, settlement and
        mark is right.

    Next: arena board
    """
    if published is not None:
        others = ("--all", "--heads", "--draws", "--referee", "--config", "--database")
        chosen.refuse_if_given(*others, because="and --published can't be combined")

        from arena.cli.verify_clone import verify_clone

        verify_clone(chosen, published)
        return

    from arena.cli.score import read_text
    from arena.cli.verify import verify as verify_record
    from arena.operations.verification import VerifyRequest

    lines = None if heads is None else read_text(heads).splitlines()
    wanted = VerifyRequest(chosen.config or DEFAULT, everything, lines, draws)
    verify_record(chosen, wanted, by_referee)


@command()
def backup(
    chosen: Options,
    place: str | None = argument("FILE|URL", "A new file, or an empty database.", default=None),
    upgrade: bool = flag("Then upgrade the record to this version's schema."),
) -> None:
    """Copy the record, even while it is in use, and verify the copy.

    By default the copy goes to backup.folder, named by the time in UTC; the newest backup.keep are kept. A
    backup is one SQLite file, even of a PostgreSQL record, and gets its name once verified.

    With a URL the record moves to another database, such as PostgreSQL; the copy must have the same state
    hash. Stop arena run first, then name it as `database` in the config.

    --upgrade changes no fact: commands that play upgrade the record themselves, those that only read ask for
    it. Stop arena run first.

    Example: arena admin backup before-upgrade.db --database .demo/demo.db

        before-upgrade.db: … bytes, verified. 4 cohorts, 20 rounds, 200
        turns, 84 calls.
        State hash …
        Keep a copy of it on another machine.

    Next: arena admin restore FILE --database drill.db
    """
    from arena.cli.backups import back_up, move_to_database, upgrade_schema

    if upgrade and place is not None:
        message = "--upgrade backs up into the folder of backups, not into a file that is named"
        raise ArenaError("usage", message, "leave out one", status=64)
    if upgrade:
        upgrade_schema(chosen)
    elif place is not None and "://" in place:
        move_to_database(chosen, place)
    else:
        back_up(chosen, Path(place) if place else None)


@command()
def restore(
    chosen: Options,
    source: Path = argument("FILE|DIR", "A backup, or an export: its folder or .zip file."),
    force: bool = flag("Move an existing record aside (not with an export)."),
) -> None:
    """Put a backup or an export in place of the record.

    A backup is checked, copied, upgraded and verified before anything else is touched. Nothing is
    overwritten: with --force the existing record is renamed, unless a process has it open. On PostgreSQL the
    database must be empty.

    An export has to be complete. Every file must match its manifest, and the new record must have the state
    hash of the original; if anything is wrong, nothing is kept.

    Example: arena admin restore season.zip --database copy.db

        season.zip is now the record copy.db: 4 cohorts, … rows
        State hash …

    Next: arena admin verify
    """
    if source.is_dir() or source.suffix == ".zip":
        from arena.cli.exports import restore_export

        if force:
            message = "--force moves a record aside for a backup, not for an export"
            raise ArenaError("usage", message, "name a new file: --database copy.db", status=64)
        restore_export(chosen, source)
    else:
        from arena.cli.backups import restore_backup

        restore_backup(chosen, source, force)


@command()
def prune(
    chosen: Options,
    older_than: str = option("How old: 90d, 12w.", "AGE", default=...),
    dry_run: bool = flag("Only show what would be pruned."),
    yes: bool = flag("Delete without asking for confirmation."),
) -> None:
    """Delete old quotes that no snapshot depends on.

    No turn, fill or mark depends on them either. It says what would be deleted, then asks. Each market's
    newest quote before that time stays. The record notes how many were deleted and when, for arena admin
    verify.

    Example: arena admin prune --older-than 90d --dry-run

        Of 2,813 quotes, as of … UTC:
          0 can be deleted: older, and nothing depends on them
          2,813 stay: they are in snapshots that turns, fills and marks depend on

    Next: arena admin verify
    """
    from arena.cli.backups import prune_old_quotes

    prune_old_quotes(chosen, older_than, dry_run, yes)
