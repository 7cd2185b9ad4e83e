"""Whether polars and DuckDB find in the files what the data dictionary and the design say.

`columns.py DIR DICTIONARY.json` compares names, order, types and nulls of every column of every file.
"""

import json
import sys
from pathlib import Path

import duckdb
import polars

# The contract with analysts: columns may be added, not renamed.
CONTRACT = {
    "exchanges": "site url host address depth purpose method started status failure content_type charset"
    " language sent_bytes received_bytes body_bytes dns_ms connect_ms tls_ms first_byte_ms total_ms"
    " http_version tls_version server location body_hash last_modified etag internal_links external_links",
    "links": "site depth page url host target_site element nofollow in_survey",
    "sites": "site cctld start_url parent_site generation outcome deepest requests pages received_bytes"
    " busy_ms external_urls external_hosts external_sites address country asn as_org server started finished",
    "levels": "site depth requests pages received_bytes busy_ms internal_urls external_urls external_hosts external_sites",
    "curves": "depth requests bytes busy_ms pages pair_urls_coverage pair_hosts_coverage pair_sites_coverage"
    " union_urls_coverage union_hosts_coverage union_sites_coverage union_addresses_coverage",
    "servers": "address hosts sites country asn as_org server requests received_bytes busy_ms smallest_gap_ms"
    " most_parallel most_requests_per_minute",
    "hosts": "host site cctld requests pages linking_sites http https hsts certificate server generator cms content"
    " text_language robots address addresses has_ipv6 aliases country asn first_seen last_seen",
    "changes": "earlier later host site fact before after",
    "page_links": "site seed page position url element nofollow is_internal",
    "robots": "site seed url status body",
}

# Tables that only a survey with --record-links has, and one that was compared.
OPTIONAL = ("page_links", "robots", "changes")

# The types of the dictionary as each program names them; a time is in UTC in both.
TYPES = {
    "text": (polars.String, "VARCHAR"),
    "boolean": (polars.Boolean, "BOOLEAN"),
    "u32": (polars.UInt32, "UINTEGER"),
    "u64": (polars.UInt64, "UBIGINT"),
    "f64": (polars.Float64, "DOUBLE"),
    "timestamp(µs, UTC)": (polars.Datetime("us", "UTC"), "TIMESTAMP WITH TIME ZONE"),
}


def check_file(path, columns):
    expected = [(column["name"], *TYPES[column["type"]]) for column in columns]
    frame = polars.read_parquet(path)
    assert list(frame.schema.items()) == [(name, kind) for name, kind, _ in expected], f"{path} in polars: {frame.schema}"
    table = duckdb.sql(f"SELECT * FROM '{path}'")
    found = list(zip(table.columns, map(str, table.types)))
    assert found == [(name, kind) for name, _, kind in expected], f"{path} in DuckDB: {found}"
    check_cells(path, frame, columns)


def check_cells(path, frame, columns):
    """The cells themselves are the same in both programs, and null only where that is said."""
    names = ", ".join(f'"{column["name"]}"' for column in columns)
    digests = duckdb.sql(f"SELECT COLUMNS(*)::VARCHAR FROM (SELECT {names} FROM '{path}')").fetchall()
    assert len(digests) == frame.height, f"{path}: {len(digests)} rows in DuckDB, {frame.height} in polars"
    for at, column in enumerate(columns):
        nulls = frame[column["name"]].null_count()
        assert nulls == sum(row[at] is None for row in digests), f"{path}: nulls of {column['name']} differ"
        assert column["nullable"] or not nulls, f"{path}: {column['name']} has nulls"
        if column["type"] in ("text", "u32", "u64"):
            texts = frame[column["name"]].cast(polars.String).to_list()
            assert texts == [row[at] for row in digests], f"{path}: {column['name']} differs"


def check_times(survey):
    """Times are moments in UTC: all of them lie within the survey as its manifest dates it."""
    manifest = json.loads((survey / "manifest.json").read_text())
    for table, names in {"exchanges": ["started"], "sites": ["started", "finished"]}.items():
        for name in names:
            query = f"""SELECT min("{name}") >= $1::TIMESTAMPTZ AND max("{name}") <= $2::TIMESTAMPTZ
                FROM '{survey}/tables/{table}/*.parquet'"""
            inside = duckdb.execute(query, [manifest["created"], manifest["updated"]]).fetchall()[0][0]
            assert inside, f"{table}.{name} lies outside the survey"


def main():
    survey, dictionary = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    assert dictionary.keys() == CONTRACT.keys()
    for table, columns in dictionary.items():
        missing = set(CONTRACT[table].split()) - {column["name"] for column in columns}
        assert not missing, f"{table} lacks {missing}"
        if table in OPTIONAL and not (survey / "tables" / table).exists():
            continue
        paths = sorted((survey / "tables" / table).glob("*.parquet"))
        assert paths, f"{table} has no file"
        for path in paths:
            check_file(path, columns)
        print(f"{table}: {len(columns)} columns in {len(paths)} files")
    check_times(survey)


main()
