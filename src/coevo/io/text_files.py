"""Read and write text files: UTF-8, plain or compressed with gzip."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from coevo.errors import FormatError
from coevo.files import MAX_TEXT_BYTES, open_source, replace_file

__all__ = ["decode_text", "encode_text", "read_bytes", "write_text_file"]


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its first bytes say so."""
    with open_source(path) as source:
        return source.read_all(MAX_TEXT_BYTES)


def decode_text(data: bytes, source: str, encoding: str = "utf-8-sig") -> str:
    """Decode the bytes of a file; raise `FormatError` with the line of the first bad byte."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        label = "UTF-8" if encoding == "utf-8-sig" else encoding
        raise FormatError(
            f"{source}, line {line}: the byte 0x{data[error.start]:02x} is not {label}. "
            f"Save the file as UTF-8."
        ) from None


def encode_text(text: str, compressed: bool) -> bytes:
    """Encode a text as UTF-8; compress it with gzip, without date and name, if asked to."""
    data = text.encode("utf-8")
    if not compressed:
        return data
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
        stream.write(data)
    return buffer.getvalue()


def write_text_file(path: Path, text: str) -> None:
    """Write a text; compress it when the name ends in ``.gz``. A failure leaves no partial file."""
    data = encode_text(text, compressed=path.name.lower().endswith(".gz"))
    with replace_file(path) as stream:
        stream.write(data)
