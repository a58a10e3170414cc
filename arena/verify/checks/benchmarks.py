"""Files of a benchmark: that they are as they came, and in versions without a gap."""

from itertools import groupby

from arena.record.schema.world import BenchmarkFileRow
from arena.verify.differences import Found, check_numbers
from arena.verify.hashes import hash_of
from arena.verify.reader import RecordReader, rows_of

KINDS = ("questions", "resolutions")
FILES = rows_of(
    BenchmarkFileRow, order=[BenchmarkFileRow.kind, BenchmarkFileRow.name, BenchmarkFileRow.version]
)


def check_benchmarks(facts: RecordReader) -> Found:
    """Files whose bytes are others than were kept, of an unknown kind, or kept twice as if they differed."""
    for _, versions in groupby(facts.rows(FILES), key=lambda row: (row["kind"], row["name"])):
        files = list(versions)
        yield from check_numbers(files, "version", 1)
        before = ""
        for row in files:
            if row["kind"] not in KINDS:
                yield row.differs("kind", " or ".join(KINDS), "there is no other")
            if (computed := hash_of(row["text"])) != row["sha256"]:
                yield row.differs("sha256", computed, "it is that of the file's bytes")
            if row["sha256"] == before:
                yield row.differs("sha256", "another than before", "a version is kept when a file changed")
            before = row["sha256"]
