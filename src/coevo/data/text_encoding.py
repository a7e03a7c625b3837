"""The encoding of a text table: detect it, and turn other encodings into UTF-8.

The kernels of CSV need an encoding in which the bytes of ASCII characters occur nowhere else. UTF-8
and the encodings with one byte per character are such. UTF-16 and UTF-32 are converted to UTF-8
while the file is read. Bytes that are not UTF-8 are decoded label by label as Windows-1252, so
that no row has to be read twice.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path

from coevo.data.decisions import Decision
from coevo.errors import DataError, FileError
from coevo.files import ByteSource, ByteStream

__all__ = ["LabelDecoder", "convert_to_utf8"]

_HEAD_BYTES = 4096
_READ_BYTES = 1 << 18
# The BOM of UTF-32 starts with the BOM of UTF-16, so UTF-32 comes first.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class LabelDecoder:
    """Decode the labels of one text table; remember whether one of them is not UTF-8.

    >>> decoder = LabelDecoder(Path("t.csv"))
    >>> decoder.decode("Zürich".encode("latin-1"), "Column 'city'"), len(decoder.decisions)
    ('Zürich', 1)
    """

    path: Path
    is_strict: bool = False  # text that is not UTF-8 is an error
    decisions: list[Decision] = field(default_factory=list)

    def decode(self, text: bytes, place: str) -> str:
        """Return a label as text; `place` is for the error message."""
        try:
            return text.decode()
        except UnicodeDecodeError:
            if self.is_strict:
                raise self._make_error(text, place) from None
        if not self.decisions:
            self.decisions.append(
                Decision(
                    "encoding",
                    (),
                    "The file is not UTF-8; it was read as Windows-1252.",
                    "encoding='utf-8', or --encoding utf-8",
                )
            )
        return decode_windows(text)

    def _make_error(self, text: bytes, place: str) -> DataError:
        shown = text if len(text) <= 40 else text[:40] + b"..."
        return DataError(
            f"{place} of {str(self.path)!r} is not UTF-8 text: {shown!r}. Give the encoding of the "
            "file, for example encoding='latin-1' (--encoding latin-1)."
        )


def decode_windows(text: bytes) -> str:
    """Return text in Windows-1252, or in Latin-1 if it has bytes that Windows-1252 lacks."""
    try:
        return text.decode("cp1252")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def convert_to_utf8(source: ByteSource, encoding: str | None) -> LabelDecoder:
    """Make a source return UTF-8 without a BOM, as far as its encoding is known.

    The decoder that is returned decodes the labels. Without `encoding`, text without a BOM is
    UTF-8 or Windows-1252, unless every second byte is zero.
    """
    decoder = LabelDecoder(source.path, is_strict=encoding is not None)
    if encoding is not None:
        name = codecs.lookup(encoding).name
        if name not in ("utf-8", "utf-8-sig", "ascii"):
            _transcode(source, name)
            return decoder
    else:
        head = source.peek(_HEAD_BYTES)
        for bom, name in _BOMS:
            if head.startswith(bom):
                _transcode(source, name)
                return decoder
        name = _detect_utf16(head)
        if name:
            decoder.decisions.append(
                Decision(
                    "encoding",
                    (),
                    "The file has a zero in every second byte; it was read as UTF-16.",
                    "encoding='utf-8', or --encoding utf-8",
                )
            )
            _transcode(source, name)
            return decoder
    source.skip_bom()
    return decoder


def _detect_utf16(head: bytes) -> str:
    """Return the encoding of text with a zero in most of its even or odd bytes, or nothing."""
    low, high = head[0::2], head[1::2]
    if len(head) < 4 or (len(head) % 2 and len(head) < _HEAD_BYTES):
        return ""
    half = len(high) / 2
    if high.count(0) > half and not low.count(0):
        return "utf-16-le"
    if low.count(0) > half and not high.count(0):
        return "utf-16-be"
    return ""


def _transcode(source: ByteSource, encoding: str) -> None:
    source.replace_stream(lambda stream: _Transcoder(stream, encoding, source.path))


class _Transcoder:
    """Text in another encoding, read as UTF-8."""

    def __init__(self, stream: ByteStream, encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._is_first, self._is_done = True, False

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes of UTF-8, fewer at the end."""
        parts, n_bytes = [self._ready], len(self._ready)
        while not self._is_done and (size < 0 or n_bytes < size):
            parts.append(self._convert(self._stream.read(_READ_BYTES)))
            n_bytes += len(parts[-1])
        data = b"".join(parts)
        stop = len(data) if size < 0 else size
        self._ready = data[stop:]
        return data[:stop]

    def _convert(self, chunk: bytes) -> bytes:
        self._is_done = not chunk
        try:
            text = self._decoder.decode(chunk, final=not chunk)
            if self._is_first:
                self._is_first, text = False, text.removeprefix("\ufeff")
            return text.encode()
        except UnicodeError:
            name = self._encoding.upper()
            raise FileError(
                f"{str(self._path)!r} is not {name} text. Give its encoding with encoding= "
                "(--encoding)."
            ) from None
