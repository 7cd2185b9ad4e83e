"""Charsets: every label of the Encoding Standard in each declaration, and html5lib's tests of the prescan."""

import re

from cases import Case, page
from packages import ENCODING_RS, HTML5LIB

LABELS = "labels of the Encoding Standard"
PRESCAN = "html5lib encoding prescan"
LABEL = re.compile(r'for_label\(b"([^"]+)"\), Some\((\w+)\)')
TEST = re.compile(rb"(?:\A|\n)#data\n(.*?)\n#encoding\n([^\n]*)", re.DOTALL)
# Constants of the crate whose names are not the standard's with `_` for `-`.
NAMES = {
    "BIG5": "Big5",
    "SHIFT_JIS": "Shift_JIS",
    "GB18030": "gb18030",
    "X_USER_DEFINED": "x-user-defined",
    "REPLACEMENT": "replacement",
    "MACINTOSH": "macintosh",
    "X_MAC_CYRILLIC": "x-mac-cyrillic",
    "UTF_16BE": "UTF-16BE",
    "UTF_16LE": "UTF-16LE",
}
# HTML standard, prescan: what a `meta` cannot mean, since it was read.
IN_META = {"UTF-16BE": "UTF-8", "UTF-16LE": "UTF-8", "x-user-defined": "windows-1252"}
# Letters of some alphabets, and what Python calls an encoding whose decoder is that of the standard for them.
LETTERS = "éßЖшλעא日本語한글ไทยñ"
PYTHON = {
    "x-mac-cyrillic": "mac-cyrillic",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "gb18030": "gb18030",
    "EUC-KR": "cp949",
    "Shift_JIS": "cp932",
    "ISO-8859-8-I": "iso-8859-8",
    "GBK": "gbk",
}
HAN = "日本語"
# No text that other than Latin letters stands in can be written in these.
WITHOUT_LETTERS = ("replacement", "x-user-defined")


def cases():
    yield from label_cases()
    yield from prescan_cases()


def labels():
    """Each label with the name of its encoding."""
    for label, constant in LABEL.findall(ENCODING_RS.text("src/test_labels_names.rs").decode()):
        yield label, NAMES.get(constant) or standard_name(constant)


def standard_name(constant):
    name = constant.replace("_", "-")
    return name.replace("WINDOWS", "windows") if name.startswith("WINDOWS") else name


def label_cases():
    for label, name in labels():
        text = text_in(name)
        for way, source, content_type in (
            ("in the header", f"<title>{text}</title>", f"text/html; charset={label}"),
            ("in meta charset", f'<meta charset="{label}"><title>{text}</title>', "text/html"),
            (
                "in a pragma",
                f'<meta http-equiv="Content-Type" content="text/html; charset={label}"><title>{text}</title>',
                "text/html",
            ),
        ):
            meant = name if way == "in the header" else IN_META.get(name, name)
            expected = {"charset": meant} if name == "replacement" else {"charset": meant, "title": text}
            body = encoded(source, meant)
            yield Case(LABELS, str(ENCODING_RS), f"{label}, {way}", source, page(body, content_type), expected)


def text_in(name):
    if name in WITHOUT_LETTERS:
        return "plain"
    if name == "Big5":
        return HAN  # Python's Big5 has the letters of other scripts elsewhere than the standard.
    return "".join(letter for letter in LETTERS if is_in(letter, name)) or "plain"


def is_in(letter, name):
    try:
        return letter.encode(PYTHON.get(name, name)).decode(PYTHON.get(name, name)) == letter
    except (UnicodeError, LookupError):
        return False


def encoded(source, name):
    return source.encode("ascii" if name in WITHOUT_LETTERS else PYTHON.get(name, name))


def prescan_cases():
    """Without a header that names a charset. `Windows-1252` is the default of these tests."""
    names = dict(labels())
    for file, text in HTML5LIB.texts("html5rdf/tests/testdata/encoding").items():
        if "/" in file or not file.endswith(".dat"):
            continue
        for number, (data, name) in enumerate(TEST.findall(text), 1):
            label = name.decode().strip().lower()
            yield Case(
                PRESCAN,
                str(HTML5LIB),
                f"{file}:{number}",
                data.decode("utf-8", "replace"),
                page(data, "text/html"),
                {"charset": names.get(label, label)},
            )
