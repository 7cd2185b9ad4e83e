"""Where a refresh leads: the "shared declarative refresh steps" of the HTML standard, as far as they tell the URL."""

SPACE = " \t\n\r\f"


def refresh_target(text):
    """The reference of a `content`; none where it names no other page than its own."""
    rest = text.lstrip(SPACE)
    digits = len(rest) - len(rest.lstrip("0123456789"))
    if digits == 0 and not rest.startswith("."):
        return None
    rest = rest[digits:].lstrip("0123456789.")
    if rest and rest[0] not in ";," + SPACE:
        return None
    rest = rest.lstrip(SPACE)
    if rest[:1] in (";", ","):
        rest = rest[1:]
    rest = rest.lstrip(SPACE)
    if not rest:
        return None
    return unquoted(after_url(rest))


def after_url(rest):
    """What follows `url =`, or all where that is not said."""
    if rest[:3].lower() != "url":
        return rest
    behind = rest[3:].lstrip(SPACE)
    return behind[1:].lstrip(SPACE) if behind.startswith("=") else rest


def unquoted(rest):
    if rest[:1] in ("'", '"'):
        return rest[1:].split(rest[0])[0]
    return rest
