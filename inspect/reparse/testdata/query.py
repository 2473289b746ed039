"""Prints pages and links for each day and domain that DuckDB reads in a table, as JSON."""
import json
import sys

import duckdb

rows = duckdb.sql(
    f"""select fetch_date::varchar, domain, count(*)::int, sum(len(links))::int from {sys.argv[1]}
    group by all order by all"""
).fetchall()
print(json.dumps(rows))
