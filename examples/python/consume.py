"""Prints the pages of a crawl, one line each: id, URL, title.

It is a member of a consumer group. Run it twice, and each copy gets half of the
partitions. Stop it, and the next run goes on where it was.
"""

import argparse
import json
import time

from confluent_kafka import Consumer

flags = argparse.ArgumentParser(description=__doc__)
flags.add_argument("--brokers", default="127.0.0.1:9092", help="host:port of brokers, comma-separated")
flags.add_argument("--crawl", default="weft", help="name of the crawl")
flags.add_argument("--group", default="my-notebook", help="consumer group: who you are")
flags.add_argument("--pages", type=int, default=0, help="end after about so many pages; 0: never")
flags.add_argument("--idle", type=float, default=0, help="end when no page comes for so many seconds; 0: never")
args = flags.parse_args()

consumer = Consumer({
    "bootstrap.servers": args.brokers,
    "group.id": args.group,
    "auto.offset.reset": "earliest",  # a new group begins at the topic's start
    "enable.auto.commit": False,  # commit what is done, and not what is read
})
consumer.subscribe([f"{args.crawl}.parsed"])

# After a crash, here or in the crawl, a page may come again with the same id. Make
# the id the primary key of the database that the pages go to. This program has no
# database, and remembers the ids of its own lifetime.
seen = set()
last = time.monotonic()
try:
    while not args.pages or len(seen) < args.pages:
        messages = consumer.consume(50, timeout=0.5)
        if not messages:
            if args.idle and time.monotonic() - last > args.idle:
                break
            continue
        last = time.monotonic()
        for message in messages:
            if message.error():
                raise SystemExit(message.error())
            page = json.loads(message.value())
            if page["id"] not in seen:
                seen.add(page["id"])
                print(page["id"], page["url"], page.get("title", ""), sep="\t", flush=True)
        # First make the work safe, then commit it: at least once.
        consumer.commit(asynchronous=False)
except KeyboardInterrupt:
    pass
finally:
    consumer.close()  # leaves the group, so that others need not wait
