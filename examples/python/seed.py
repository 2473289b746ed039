"""Gives URLs to a crawl."""

import argparse
import json

from confluent_kafka import Producer

flags = argparse.ArgumentParser(description=__doc__)
flags.add_argument("--brokers", default="127.0.0.1:9092", help="host:port of brokers, comma-separated")
flags.add_argument("--crawl", default="weft", help="name of the crawl")
flags.add_argument("--depth", type=int, default=0,
                   help="count links from this depth on, so that a crawl with --max-depth follows them less far")
flags.add_argument("url", nargs="+")
args = flags.parse_args()

# All replicas acknowledge each record, once and in order.
producer = Producer({"bootstrap.servers": args.brokers, "enable.idempotence": True})
errors = []


def acknowledged(error, _message):
    if error:
        errors.append(error)


for url in args.url:
    # A seed is a URL in plain text, or a JSON object with options. It needs no
    # key, and any partition will do.
    value = json.dumps({"url": url, "depth": args.depth}) if args.depth else url
    producer.produce(f"{args.crawl}.seeds", value, on_delivery=acknowledged)
producer.flush()  # waits for all acknowledgements
if errors:
    raise SystemExit(errors[0])
print(len(args.url), "seeds")
