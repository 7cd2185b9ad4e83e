"""What each of the three servers answers for a path, told from the files alone."""

import os
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

HTML_TYPES = {"text/html", "application/xhtml+xml"}
# Where a server finds the type of a file name's ending.
TYPE_FILES = {
    "nginx": "/etc/nginx/mime.types",
    "apache2": "/etc/mime.types",
    "lighttpd": "/etc/mime.types",
}


@dataclass
class Answer:
    """Either a redirect, or a file that is or is not HTML, or nothing: 403 or 404."""

    redirect: str | None = None
    file: str | None = None
    is_html: bool = False


# WHATWG MIME Sniffing §7.1: what a resource without a type begins with, behind white space, if it is HTML.
HTML = re.compile(
    rb"[\t\n\f\r ]*(?:<!--|<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)


def begins_as_html(file):
    with open(file, "rb") as content:
        return HTML.match(content.read(1445)) is not None


class Server:
    def __init__(self, kind, root, index="index.html"):
        self.root = os.fsencode(root)
        self.index = os.fsencode(index)
        self.kind = kind
        self.types = read_types(TYPE_FILES[kind])

    def answer(self, path, query):
        file = os.path.normpath(self.root + unquote_to_bytes(path))
        if os.path.isdir(file):
            if not path.endswith("/"):
                # All three send directories their slash and keep the query.
                return Answer(redirect=path + "/" + ("" if query is None else "?" + query))
            file = os.path.join(file, self.index)
        elif path.endswith("/"):
            return Answer()
        if not os.path.isfile(file):
            return Answer()
        return Answer(file=os.fsdecode(file), is_html=self.is_html(os.fsdecode(file)))

    def is_html(self, file):
        name = os.path.basename(file)
        ending = name.rpartition(".")[2].lower() if "." in name else None
        kind = self.types.get(ending)
        if kind is None:
            # nginx says text/plain and lighttpd application/octet-stream where they know no type;
            # Apache says nothing, and what has no type is HTML where it begins as such.
            return self.kind == "apache2" and begins_as_html(file)
        return kind in HTML_TYPES


def read_types(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"#.*|^types \{|^\}", "", file.read(), flags=re.M)
    types = {}
    for line in re.split(r"[;\n]", re.sub(r"\n\s+", " ", text) if "nginx" in path else text):
        kind, *endings = line.split() or [""]
        types.update((ending, kind) for ending in endings)
    return types
