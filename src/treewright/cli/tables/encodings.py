"""Character encodings of text files: detected from the bytes or named, and transcoded to UTF-8 for SQL."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from treewright.cli.errors import Misuse, Trouble, closest
from treewright.cli.tables import temporary_files

START = 1 << 16  # bytes that are looked at for byte order marks and zeros
CHUNK = 1 << 20  # bytes that are decoded at once
SCANNED = 1 << 28  # bytes that are checked for UTF-8 before the file is read
GZIP = b"\x1f\x8b"
WINDOWS = "cp1252"
COMMON = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "cp1251", "mac-roman", "shift_jis", "gb18030")

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before that of UTF-16, which begins alike
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SHOWN = {
    "utf-8": "UTF-8",
    WINDOWS: "Windows-1252",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
}
_CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a\x1b"})  # bytes that no text has


def as_utf8(path: str, place: str, named: str | None = None) -> tuple[str, str | None]:
    """The place of a text file as UTF-8, the file itself if it is, and a remark about its encoding.

    `named` is the encoding if the user names one. Without it a file that is neither UTF-8 nor UTF-16 is taken
    for Windows-1252, with a remark.
    """
    with open_bytes(path, place) as file:
        start = file.read(START)
    mark = next((name for bom, name in _MARKS if start.startswith(bom)), None)
    remark = None
    if named is not None:
        encoding = check_encoding(named)
        if mark is not None and not encoding.startswith(mark):
            raise Misuse(
                f"--encoding {named}: {path} begins with the byte order mark of {mark.upper()}; leave it out"
            )
    else:
        encoding, remark = (mark, None) if mark is not None else _detect(path, place, start)
    if encoding == "utf-8":
        return place, remark
    with temporary_files.new_file(path) as (name, file):
        for text in _decode(path, place, encoding):
            file.write(text.encode("utf-8", "surrogatepass"))
    return name, remark


def check_encoding(name: str) -> str:
    """The name of a text encoding as Python has it; Misuse if it is none.

    >>> check_encoding("Latin1"), check_encoding("UTF8")
    ('iso8859-1', 'utf-8')
    """
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        codec = None
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        close = closest(name, COMMON)
        hint = "" if close is None else f"did you mean {close}? "
        raise Misuse(f"--encoding {name!r} is unknown; {hint}common ones: {', '.join(COMMON)}")
    return "utf-8" if codec.name in ("utf-8", "utf-8-sig", "ascii") else codec.name


@contextmanager
def open_bytes(path: str, place: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it is packed; Trouble if it does not unpack."""
    opener: Any = gzip.open if compression(place) == "gzip" else open
    try:
        with opener(place, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Trouble(f"{path} is damaged: it does not unpack ({error})") from error


@contextmanager
def open_text(path: str, place: str) -> Iterator[IO[str]]:
    """The same of a file that is UTF-8, as text."""
    with open_bytes(path, place) as binary, io.TextIOWrapper(binary, "utf-8-sig", newline="") as file:
        yield file


def _detect(path: str, place: str, start: bytes) -> tuple[str, str | None]:
    """The encoding of a file without a byte order mark, and a remark about it."""
    if (wide := _wide(start)) is not None:
        return wide, f"{path} looks like {_SHOWN[wide]} and is read so (--encoding names another)"
    if b"\0" in start:
        raise Trouble(not_text(path, "zero bytes"))
    if _is_utf8(path, place):
        return "utf-8", None
    if start.translate(None, _CONTROLS) != start:
        raise Trouble(not_text(path, "control characters"))
    return WINDOWS, f"{path} is not UTF-8; read as {_SHOWN[WINDOWS]} (--encoding names another)"


def not_text(path: str, having: str) -> str:
    """The message about a file that is not text."""
    return f"{path} is not text (it has {having}); a table is read from CSV, JSON lines, Parquet or Excel"


def _wide(start: bytes) -> str | None:
    """UTF-16 without a byte order mark: separators, digits and Latin letters have every other byte zero.

    >>> _wide("a;b".encode("utf-16-le") * 9), _wide("a;b".encode("utf-16-be") * 9), _wide(b"a;b" * 9)
    ('utf-16-le', 'utf-16-be', None)
    """
    even, odd = start[::2].count(0), start[1::2].count(0)
    pairs = len(start) // 2
    if 10 * max(even, odd) < pairs or not pairs or 20 * min(even, odd) > max(even, odd):
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = start[: 2 * pairs].decode(encoding, "replace")
    return encoding if text.isascii() or text.count("\ufffd") <= 1 else None


def _is_utf8(path: str, place: str) -> bool:
    """Whether a file is UTF-8, as far as it is checked; the reader refuses errors behind that."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path, place) as file:
        left = SCANNED
        while chunk := file.read(CHUNK):
            try:
                if not chunk.isascii() or decoder.getstate()[0]:
                    decoder.decode(chunk)
            except UnicodeDecodeError:
                return False
            left -= len(chunk)
            if left <= 0:
                return True
    return not decoder.getstate()[0]


def _decode(path: str, place: str, encoding: str) -> Iterator[str]:
    """The text of a file, piece by piece; Trouble that names the line of what cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, is_first = 1, True
    with open_bytes(path, place) as file:
        while True:
            chunk = file.read(CHUNK)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeError as error:
                raise _undecodable(path, encoding, line, error) from error
            if "\0" in text:
                raise Trouble(not_text(path, f"zero bytes, read as {encoding}"))
            line += _breaks(text)
            yield text.removeprefix("\ufeff") if is_first else text
            is_first = is_first and not text
            if not chunk:
                return


def _breaks(text: str) -> int:
    return text.count("\n") or text.count("\r")


def _undecodable(path: str, encoding: str, line: int, error: UnicodeError) -> Trouble:
    """The error about bytes that are not text in an encoding."""
    where, reason = "", str(error)
    if isinstance(error, UnicodeDecodeError):
        known = encoding if error.encoding == "charmap" else error.encoding
        before = error.object[: error.start].decode(known, "replace")
        where = f", line {line + _breaks(before)}"
        text = before.rpartition("\n")[2][-20:]
        reason = f"it has the byte 0x{error.object[error.start]:02X} after {text!r}"
    others = {WINDOWS: ", ".join(each for each in COMMON[2:] if each != WINDOWS), "utf-8": WINDOWS}
    such = f", such as {others[encoding]}" if encoding in others else ""
    name = _SHOWN.get(encoding, encoding)
    return Trouble(f"{path}{where} is not {name} text: {reason}; --encoding names another{such}")


def diagnose_bytes(path: str, place: str) -> None:
    """Trouble that names the first byte which is not UTF-8."""
    for _ in _decode(path, place, "utf-8"):
        pass


def compression(place: str) -> str:
    """What SQL calls the compression of a file: gzip or none."""
    with open(place, "rb") as file:
        return "gzip" if file.read(2) == GZIP else "none"
