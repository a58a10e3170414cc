"""Members of a ZIP, including those compressed with Zstandard, which Python reads only from 3.14 on."""

import zipfile
import zlib

ZSTANDARD = 93
"""The number of the compression method in a ZIP."""
LOCAL_HEADER = 30
"""The number of bytes before a member's name."""
ENCRYPTED = 1


def read_member(data: bytes, packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member of the ZIP that `data` is; raise `ValueError` if it is damaged."""
    if member.compress_type != ZSTANDARD or member.flag_bits & ENCRYPTED:
        return packed.read(member)

    import pyarrow as pa  # imported on demand: it takes a third of a second

    header = data[member.header_offset : member.header_offset + LOCAL_HEADER]
    name_length = int.from_bytes(header[26:28], "little")
    extra_length = int.from_bytes(header[28:30], "little")
    start = member.header_offset + LOCAL_HEADER + name_length + extra_length
    raw = data[start : start + member.compress_size]

    try:
        unpacked: bytes = pa.decompress(raw, member.file_size, codec="zstd", asbytes=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{member.filename} is torn: {error}") from error

    if zlib.crc32(unpacked) != member.CRC:
        raise ValueError(f"{member.filename} is torn: its checksum differs")

    return unpacked
