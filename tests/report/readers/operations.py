"""What an analyst does with each table of a survey, by one program that reads Parquet.

`operations.py SURVEY` runs with whatever is installed: pyarrow and pandas, or polars and DuckDB. It prints JSON: a row for each
reader, table and operation with the result, or with the error. Results are such that every reader comes to the same ones.
"""

import csv
import datetime
import hashlib
import json
import sys
import tempfile
from pathlib import Path

# Of each table: a text that is never null, a number that is never null, what is grouped by (nulls are a group), and with which
# table and columns it is joined.
TABLES = {
    "exchanges": ("host", "received_bytes", "content_type", ("sites", ["site", "seed"])),
    "links": ("url", "depth", "element", ("sites", ["site", "seed"])),
    "sites": ("site", "pages", "outcome", ("levels", ["site", "seed"])),
    "levels": ("site", "requests", "site", ("sites", ["site", "seed"])),
    "curves": ("group_name", "requests", "grouped_by", ("curves", ["grouped_by", "group_name", "depth"])),
    "servers": ("address", "requests", "country", ("sites", ["address"])),
    "hosts": ("host", "requests", "http", ("sites", ["site"])),
    "changes": ("host", "pages", "fact", ("hosts", ["host"])),
    "page_links": ("url", "position", "element", ("sites", ["site", "seed"])),
    "robots": ("url", "seed", "status", ("sites", ["site", "seed"])),
}
# A column of times, where a table has one.
TIMES = {"exchanges": "started", "sites": "started", "hosts": "first_seen"}
OPERATIONS = ("open", "filter", "sort", "join", "group", "export")
# What columns are read as: none is a view or a dictionary, which many functions do not take.
ARROW_TYPES = {"large_string", "bool", "uint32", "uint64", "double", "timestamp[us, tz=UTC]"}
BEFORE_ALL = datetime.datetime(1999, 1, 1, tzinfo=datetime.timezone.utc)


def digest(values):
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def groups(rows):
    """Groups with their counts and sums, whatever order they came in; what is null in one program is NaN in another."""
    rows = [(None if key is None or key != key else str(key).removesuffix(".0"), int(count), int(total)) for key, count, total in rows]
    return digest(sorted(rows, key=lambda row: (row[0] is None, row[0] or "")))


def exported(path, text):
    with open(path, newline="", encoding="utf-8") as file:
        csv.field_size_limit(2**30)
        texts = [row[text] for row in csv.DictReader(file)]
    return [len(texts), digest(sorted(texts))]


class Reader:
    """The operations on a table; each kind of reader has its own way."""

    def __init__(self, survey, scratch, table):
        self.survey, self.scratch, self.table = survey, Path(scratch), table
        self.text, self.number, self.by, (self.other, self.on) = TABLES[table]
        self.joined = list(dict.fromkeys([*self.on, self.number]))
        self.folder = f"{survey}/tables/{table}"

    def files(self, table=None):
        return f"{self.survey}/tables/{table or self.table}/*.parquet"


class Arrow(Reader):
    """pyarrow: whole folders, filters while reading and afterwards."""

    def read(self, table=None, **arguments):
        import pyarrow.parquet as parquet

        return parquet.read_table(f"{self.survey}/tables/{table or self.table}", **arguments)

    def open(self):
        table = self.read()
        other = {str(kind) for kind in table.schema.types} - ARROW_TYPES
        assert not other, f"columns of type {other}"
        return [table.num_rows, table.num_columns]

    def filter(self):
        import pyarrow.compute as compute
        import pyarrow.dataset as dataset

        whole = self.read()
        one = whole[self.text][0].as_py()
        by_number = self.read(filters=[(self.number, ">", 0)])
        by_text = self.read(filters=[(self.text, "==", one)])
        same = whole.filter(compute.field(self.text) == one)
        assert same.equals(by_text), "two ways to filter differ"
        scanned = dataset.dataset(self.folder).to_table(filter=compute.field(self.text) == one)
        assert scanned.num_rows == same.num_rows
        valid = [whole.filter(compute.is_valid(whole[name])).num_rows for name in whole.column_names]
        counts = [by_number.num_rows, by_text.num_rows, digest(valid)]
        if self.table in TIMES:
            counts.append(self.read(filters=[(TIMES[self.table], ">", BEFORE_ALL)]).num_rows)
        return counts

    def sort(self):
        ordered = self.read().sort_by([(self.text, "ascending"), (self.number, "descending")])
        return [digest(ordered[self.text].to_pylist()), digest(ordered[self.number].to_pylist())]

    def join(self):
        left, right = self.read(columns=self.joined), self.read(self.other, columns=self.on)
        return left.join(right, keys=self.on, join_type="inner").num_rows

    def group(self):
        grouped = self.read().group_by(self.by).aggregate([(self.number, "count"), (self.number, "sum")])
        names = (self.by, f"{self.number}_count", f"{self.number}_sum")
        return groups(zip(*(grouped[name].to_pylist() for name in names)))

    def export(self):
        import pyarrow.csv as arrow_csv
        import pyarrow.feather as feather
        import pyarrow.parquet as parquet

        table, path = self.read(), self.scratch / "out"
        parquet.write_table(table, path)
        assert parquet.read_table(path).equals(table)
        feather.write_feather(table, path)
        assert feather.read_table(path).equals(table)
        arrow_csv.write_csv(table, path)
        return exported(path, self.text)


class Pandas(Reader):
    """pandas, with filters while reading and afterwards."""

    backend = {}

    def read(self, table=None, **arguments):
        import pandas

        return pandas.read_parquet(f"{self.survey}/tables/{table or self.table}", **self.backend, **arguments)

    def open(self):
        return list(self.read().shape)

    def filter(self):
        whole = self.read()
        one = whole[self.text].iloc[0]
        by_text = self.read(filters=[(self.text, "==", one)])
        assert len(whole[whole[self.text] == one]) == len(by_text) == len(whole.query(f"{self.text} == @one"))
        valid = [int(whole[name].notna().sum()) for name in whole.columns]
        counts = [len(self.read(filters=[(self.number, ">", 0)])), len(by_text), digest(valid)]
        if self.table in TIMES:
            counts.append(len(self.read(filters=[(TIMES[self.table], ">", BEFORE_ALL)])))
        return counts

    def sort(self):
        ordered = self.read().sort_values([self.text, self.number], ascending=[True, False])
        return [digest(ordered[self.text].tolist()), digest([int(number) for number in ordered[self.number]])]

    def join(self):
        left, right = self.read(columns=self.joined), self.read(self.other, columns=self.on)
        return len(left.merge(right, on=self.on))

    def group(self):
        grouped = self.read().groupby(self.by, dropna=False)[self.number].agg(["count", "sum"]).reset_index()
        keys = [None if missing else key for key, missing in zip(grouped[self.by], grouped[self.by].isna())]
        return groups(zip(keys, grouped["count"], grouped["sum"]))

    def export(self):
        table, path = self.read(), self.scratch / "out"
        table.to_parquet(path)
        table.to_csv(path, index=False)
        return exported(path, self.text)


class PandasOnArrow(Pandas):
    """pandas that keeps columns as Arrow has them."""

    backend = {"dtype_backend": "pyarrow"}


class Polars(Reader):
    """polars, lazily and at once."""

    def read(self, table=None):
        import polars

        return polars.read_parquet(self.files(table))

    def open(self):
        return list(self.read().shape)

    def filter(self):
        import polars

        lazy = polars.scan_parquet(self.files())
        whole = self.read()
        one = whole[self.text][0]
        by_text = lazy.filter(polars.col(self.text) == one).collect().height
        assert by_text == whole.filter(polars.col(self.text) == one).height
        valid = [whole.height - whole[name].null_count() for name in whole.columns]
        counts = [lazy.filter(polars.col(self.number) > 0).collect().height, by_text, digest(valid)]
        if self.table in TIMES:
            counts.append(lazy.filter(polars.col(TIMES[self.table]) > BEFORE_ALL).collect().height)
        return counts

    def sort(self):
        ordered = self.read().sort(self.text, self.number, descending=[False, True])
        return [digest(ordered[self.text].to_list()), digest(ordered[self.number].to_list())]

    def join(self):
        return self.read().select(self.joined).join(self.read(self.other).select(self.on), on=self.on).height

    def group(self):
        import polars

        number = polars.col(self.number)
        grouped = self.read().group_by(self.by).agg(number.count().alias("n"), number.sum().alias("total"))
        return groups(grouped.iter_rows())

    def export(self):
        import polars

        table, path = self.read(), self.scratch / "out"
        table.write_parquet(path)
        assert polars.read_parquet(path).equals(table)
        table.write_csv(path)
        return exported(path, self.text)


class DuckDB(Reader):
    """DuckDB, in SQL."""

    def ask(self, query):
        import duckdb

        return duckdb.sql(query).fetchall()

    def open(self):
        rows = self.ask(f"SELECT count(*) FROM '{self.files()}'")[0][0]
        return [rows, len(self.ask(f"DESCRIBE SELECT * FROM '{self.files()}'"))]

    def filter(self):
        path = self.files()
        names = [row[0] for row in self.ask(f"DESCRIBE SELECT * FROM '{path}'")]
        (one,) = self.ask(f"SELECT \"{self.text}\" FROM '{path}' LIMIT 1")[0]
        count = lambda where: self.ask(f"SELECT count(*) FROM '{path}' WHERE {where}")[0][0]
        quoted = one.replace("'", "''")
        valid = self.ask("SELECT " + ", ".join(f'count("{name}")' for name in names) + f" FROM '{path}'")[0]
        counts = [count(f'"{self.number}" > 0'), count(f"\"{self.text}\" = '{quoted}'"), digest(list(valid))]
        if self.table in TIMES:
            counts.append(count(f"\"{TIMES[self.table]}\" > '{BEFORE_ALL}'::TIMESTAMPTZ"))
        return counts

    def sort(self):
        rows = self.ask(f"""SELECT "{self.text}", "{self.number}" FROM '{self.files()}' ORDER BY 1, 2 DESC""")
        return [digest([row[0] for row in rows]), digest([row[1] for row in rows])]

    def join(self):
        using = ", ".join(self.on)
        return self.ask(f"SELECT count(*) FROM '{self.files()}' JOIN '{self.files(self.other)}' USING ({using})")[0][0]

    def group(self):
        number = f'"{self.number}"'
        return groups(self.ask(f"SELECT \"{self.by}\", count({number}), sum({number}) FROM '{self.files()}' GROUP BY 1"))

    def export(self):
        path = self.scratch / "out"
        self.ask(f"COPY (FROM '{self.files()}') TO '{path}.parquet'")
        self.ask(f"COPY (FROM '{self.files()}') TO '{path}' (FORMAT csv, HEADER)")
        return exported(path, self.text)


def readers():
    """Those whose libraries are installed, with their names."""
    try:
        import pandas
        import pyarrow
    except ImportError:
        import duckdb
        import polars

        return {f"polars {polars.__version__}": Polars, f"DuckDB {duckdb.__version__}": DuckDB}
    on = f"pandas {pandas.__version__} on pyarrow {pyarrow.__version__}"
    return {f"pyarrow {pyarrow.__version__}": Arrow, on: Pandas, f"{on}, its types": PandasOnArrow}


def main():
    survey, rows = sys.argv[1], []
    with tempfile.TemporaryDirectory() as scratch:
        for name, kind in readers().items():
            for table in TABLES:
                if not Path(survey, "tables", table).is_dir():
                    continue
                reader = kind(survey, scratch, table)
                for operation in OPERATIONS:
                    row = {"reader": name, "table": table, "operation": operation}
                    try:
                        rows.append(row | {"result": getattr(reader, operation)()})
                    except Exception as wrong:  # Whatever a library raises is what an analyst would meet.
                        rows.append(row | {"error": f"{type(wrong).__name__}: {wrong}"[:300]})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
