#!/usr/bin/env python3
"""Makes the Iceberg table of pages that iceberg.properties fills (create), or prints its rows as JSON lines (read).

The environment is that of the worker: CATALOG, WAREHOUSE, S3_ENDPOINT, AWS_REGION and the credentials of AWS. To have more
members of a page, add them here as columns: docs/consume.md and codecs/parsed.schema.json name them all.
"""

import json
import os
import sys

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DoubleType, IntegerType, ListType, LongType, NestedField, StringType, StructType, TimestamptzType

LINK = StructType(
    NestedField(21, "url", StringType()),
    NestedField(22, "text", StringType()),
    NestedField(23, "kind", StringType()),
)
PAGE = Schema(
    NestedField(1, "id", StringType(), required=True),
    NestedField(2, "url", StringType(), required=True),
    NestedField(3, "domain", StringType()),
    NestedField(4, "status", IntegerType()),
    NestedField(5, "fetched_at", TimestamptzType()),
    NestedField(6, "depth", LongType()),
    NestedField(7, "content_type", StringType()),
    NestedField(8, "body_bytes", LongType()),
    NestedField(9, "content_hash", StringType()),
    NestedField(10, "detected_language", StringType()),
    NestedField(11, "language_confidence", DoubleType()),
    NestedField(12, "title", StringType()),
    NestedField(13, "text", StringType()),
    NestedField(14, "links", ListType(20, LINK)),
)
BY_DAY = PartitionSpec(PartitionField(source_id=5, field_id=1000, transform=DayTransform(), name="day"))

catalog = SqlCatalog(
    "weft",
    uri="sqlite:///" + os.environ["CATALOG"],
    warehouse=os.environ["WAREHOUSE"],
    **{"s3.endpoint": os.environ["S3_ENDPOINT"], "s3.region": os.environ["AWS_REGION"]},
)
if sys.argv[1] == "create":
    catalog.create_namespace_if_not_exists("crawl")
    catalog.create_table("crawl.pages", PAGE, partition_spec=BY_DAY)
else:
    for page in catalog.load_table("crawl.pages").scan().to_arrow().to_pylist():
        page["fetched_at"] = page["fetched_at"].isoformat()
        print(json.dumps(page))
