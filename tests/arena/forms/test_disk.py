"""The files of a ZIP are read however they are packed."""

import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pytest

from arena.errors import ArenaError
from arena.forms.sources.disk import read_source
from arena.forms.zip_members import ZSTANDARD

TEXT = b"question,probability,outcome\nrain,0.25,1\n" * 50
LOCAL_FIELDS = {"method": 8, "crc": 14, "size": 22}
CENTRAL_FIELDS = {"method": 10, "crc": 16, "size": 24}


def zstandard_zip(text: bytes, crc: int) -> bytes:
    """Return a ZIP whose only member is packed with Zstandard, which Python writes from 3.14 on."""
    packed = pa.compress(text, codec="zstd", asbytes=True)
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("forecasts.csv", packed)

    data = bytearray(stream.getvalue())
    central = data.index(b"PK\x01\x02")
    for start, fields in ((0, LOCAL_FIELDS), (central, CENTRAL_FIELDS)):
        struct.pack_into("<H", data, start + fields["method"], ZSTANDARD)
        struct.pack_into("<I", data, start + fields["crc"], crc)
        struct.pack_into("<I", data, start + fields["size"], len(text))
    return bytes(data)


def test_a_member_packed_with_zstandard_is_read(tmp_path: Path) -> None:
    path = tmp_path / "season.zip"
    path.write_bytes(zstandard_zip(TEXT, zlib.crc32(TEXT)))
    [file] = read_source(path)
    assert (file.name, file.data) == (f"{path}/forecasts.csv", TEXT)


def test_one_that_is_torn_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "season.zip"
    path.write_bytes(zstandard_zip(TEXT, zlib.crc32(TEXT) ^ 1))
    with pytest.raises(ArenaError, match=r"can't be unpacked: forecasts\.csv is torn"):
        read_source(path)
