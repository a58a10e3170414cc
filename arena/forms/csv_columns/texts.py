"""The text of a file: decompressed, and decoded from its encoding."""

import gzip
import zlib
from io import BytesIO

from arena.errors import ArenaError

MOST_BYTES = 1 << 30
"""The largest decompressed size of a file, in bytes."""
GZIP = b"\x1f\x8b"


def decode(name: str, data: bytes, *, exact: bool = False) -> str:
    """Return the text of a UTF-8 or UTF-16 file, with or without a byte order mark, possibly gzipped.

    If it is to be `exact`, it is plain UTF-8, and a mark at the beginning stays part of the text.

    >>> decode("f", b"a,b"), decode("f", "a,b".encode("utf-16")), decode("f", "a,b".encode("utf-16-le"))
    ('a,b', 'a,b', 'a,b')
    """
    data = unpacked(name, data)
    encoding = "utf-8" if exact else encoding_of(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        number = "8" if encoding.startswith("utf-8") else "16"
        what = f"{name}:{line}: this is not UTF-{number}"
        raise ArenaError("bad_file", what, "save it as text in UTF-8: CSV or JSON") from error


def encoding_of(data: bytes) -> str:
    """Return the encoding of a text, judged by its first bytes."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(data) > 3 and data[1:4:2] == b"\0\0":
        return "utf-16-le"
    if len(data) > 3 and data[:4:2] == b"\0\0":
        return "utf-16-be"
    return "utf-8-sig"


def unpacked(name: str, data: bytes) -> bytes:
    """Return the decompressed bytes of a gzipped file; other bytes unchanged."""
    if data[:2] != GZIP:
        return data

    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
            found = packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ArenaError("bad_file", f"{name} can't be unpacked: {error}", "fetch it again") from error

    if len(found) > MOST_BYTES:
        what = f"{name} unpacks to more than {MOST_BYTES:,} bytes"
        raise ArenaError("bad_file", what, "name another file")
    return found
