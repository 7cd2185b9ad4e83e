"""Refreshes: our own spellings, each step of the standard at least once, in a `meta` and in the header field."""

import json
import pathlib

from cases import OURS, URL, Case, attribute, page
from judging import canonical

OWN = pathlib.Path(__file__).with_name("own") / "refreshes.json"


def cases():
    for number, test in enumerate(json.loads(OWN.read_text())["cases"], 1):
        content, reference = test["content"], test["reference"]
        url = canonical(reference, URL) if reference is not None else None
        expected = {"links": [url] if url and url != URL else []}
        source = f'<meta http-equiv="refresh" content="{attribute(content)}">'
        yield Case("own: meta refresh", OURS, f"{number}", repr(content), page(source), expected)
        # Fields hold no control characters, and hardly any letters that are not ASCII (RFC 9110 §5.5).
        if content.isascii() and (content + " ").isprintable():
            field = f"Refresh: {content}"
            yield Case("own: Refresh field", OURS, f"{number}", repr(content), with_field(field), expected)


def with_field(field):
    """An empty page whose head has this field as well."""
    head, _, body = page("").partition(b"\r\n\r\n")
    return head + b"\r\n" + field.encode() + b"\r\n\r\n" + body
