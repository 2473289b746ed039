"""Prints what DuckDB reads in the Parquet files of a folder, as JSON."""
import json
import sys

import duckdb

table = f"read_parquet('{sys.argv[1]}/*.parquet')"
columns = [row[:2] for row in duckdb.sql(f"describe select * from {table}").fetchall()]
pages = duckdb.sql(
    f"""select url, content_languages, warc_filename, warc_record_offset, warc_record_length
    from {table} where subset = 'warc' and url_host_registered_domain = 'example.co.uk' order by url_surtkey, fetch_time"""
).fetchall()
print(json.dumps({"columns": columns, "pages": pages}))
