"""A report as a program reads it: its tables with their CSV files, its facts, its sentences, and how numbers are written."""

import csv
import io
import math
from urllib.parse import unquote

from lxml import html


class Page:
    def __init__(self, path):
        root = html.parse(path)
        self.tables = {}
        for link in root.xpath("//a[@download]"):
            name = link.get("download").removesuffix(".csv")
            text = unquote(link.get("href").split(",", 1)[1])
            (table,) = root.xpath(f"//table[@id='{name}']")
            shown = [[words(cell) for cell in row.xpath("th|td")] for row in table.xpath("tbody/tr")]
            self.tables[name] = (list(csv.reader(io.StringIO(text, newline=""))), shown)
        # By section; those above all sections stand under "".
        self.facts = {}
        for fact in root.xpath("//dl/div"):
            section = "".join(fact.xpath("ancestor::section/@id"))
            value = fact.find("dd")
            note = words(value.find("small")) if value.find("small") is not None else ""
            self.facts[section, words(fact.find("dt"))] = (words(value).removesuffix(note).strip(), note)
        self.verdicts = [words(cell) for cell in root.xpath("//table[@id='promises']/tbody/tr/td[1]")]
        self.leads = {lead.getparent().get("id"): words(lead) for lead in root.xpath("//p[@class='lead']")}
        self.notes = {
            section.get("id"): " ".join(words(note) for note in section.xpath("p[@class='note']")) for section in root.xpath("//section")
        }


def words(element):
    return " ".join(element.text_content().split())


def thousands(number):
    return f"{math.floor(number + 0.5):,}"


def decimal(number, decimals):
    return f"{number:,.{decimals}f}".replace("-", "−")


def percent(share):
    if 0.9995 < share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if 0 < share < 0.0005 else f"{share * 100:.1f} %"


def of(part, whole):
    return f"{thousands(part)} ({percent(part / whole)})"


def size(number):
    if number < 1000:
        return f"{number:.0f} B"
    for unit in ("kB", "MB", "GB"):
        number /= 1000
        if number < 999.95:
            break
    return f"{number:.1f} {unit}"


def duration(seconds):
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(math.floor(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} d {hours:02} h"
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def milliseconds(ms):
    if ms >= 999.5:
        return duration(ms / 1000)
    return f"{ms:.1f} ms" if ms < 9.95 else f"{ms:.0f} ms"


def interval(value, low, high, unit):
    """As a cell shows a number with its interval; one of no width is left out."""
    form, end, sign = (percent, lambda share: decimal(share * 100, 1), " %") if unit == "share" else (thousands, thousands, "")
    return form(value) if low >= high else f"{form(value)} ({end(low)}–{end(high)}{sign})"


def number(value, unit, shown):
    """As a cell shows a number of this unit; `shown` tells the decimals where there is none."""
    forms = {"share": percent, "bytes": size, "s": duration, "ms": milliseconds}
    decimals = len(shown.partition(".")[2])
    return forms[unit](value) if unit in forms else decimal(value, decimals)
