"""Texts as files: UTF-8, compressed or not, whole or not there."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from coevo.errors import FormatError
from coevo.files import open_source, replacing

__all__ = ["decode_text", "encode_text", "read_bytes", "write_encoded"]


def read_bytes(path: Path) -> bytes:
    """Return what is in a file, decompressed where its first bytes say so."""
    with open_source(path) as source:
        return source.read_all()


def decode_text(data: bytes, source: str, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file from its bytes."""
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
    """Return the bytes of a file: UTF-8, and gzip without a date or a name if asked for."""
    data = text.encode("utf-8")
    if not compressed:
        return data
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as packed:
        packed.write(data)
    return buffer.getvalue()


def write_encoded(path: Path, text: str) -> None:
    """Write a text, compressed when the name ends in ``.gz``; the file appears complete."""
    data = encode_text(text, compressed=path.name.lower().endswith(".gz"))
    with replacing(path) as stream:
        stream.write(data)
