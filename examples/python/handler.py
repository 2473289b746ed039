"""A handler of your own: reads exchanges from fetched, and makes a record of each image.

The topic fetched has the bodies of all types that the crawl keeps. A handler is a consumer
group of its own, and writes where it likes: here, one JSON line an image. Without --brokers
it reads one record from standard input.
"""

import argparse
import hashlib
import json
import sys


def fields(message):
    """The fields of a protobuf message: number to a list of values. codecs/proto has the numbers.

    With protoc, import the classes that it makes of codecs/proto instead.
    """
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(message):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            value = varint()
        elif kind == 2:
            size = varint()
            value = message[at:at + size]
            at += size
        else:  # 64 or 32 bits
            size = 8 if kind == 1 else 4
            value = message[at:at + size]
            at += size
        found.setdefault(tag >> 3, []).append(value)
    return found


def first(message, *path):
    """The value at a path of field numbers, or nothing."""
    for number in path:
        message = fields(message).get(number, [b""])[0]
    return message


def handle(record):
    """What the handler makes of a record of fetched; None: nothing."""
    exchange = fields(record)
    headers = {first(h, 1).decode().lower(): first(h, 2).decode() for h in exchange.get(7, [])}
    body = exchange.get(8, [b""])[0]  # a large body is in the store that field 11, stored, names
    if first(record, 4, 2) != 200 or not headers.get("content-type", "").startswith("image/") or not body:
        return None
    return {
        "id": exchange[1][0].decode(),  # a record may come again after a crash, with the same id
        "url": first(record, 2, 1, 1).decode(),
        "type": headers["content-type"],
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
    }


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--brokers", help="host:port of brokers, comma-separated")
    flags.add_argument("--crawl", default="weft", help="name of the crawl")
    flags.add_argument("--group", default="my-images", help="consumer group: who you are")
    args = flags.parse_args()
    if not args.brokers:
        print(json.dumps(handle(sys.stdin.buffer.read())))
        return
    from confluent_kafka import Consumer

    consumer = Consumer({
        "bootstrap.servers": args.brokers, "group.id": args.group, "auto.offset.reset": "earliest", "enable.auto.commit": False,
    })
    consumer.subscribe([f"{args.crawl}.fetched"])
    try:
        while True:
            messages = consumer.consume(50, timeout=0.5)
            for message in messages:
                if message.error():
                    raise SystemExit(message.error())
                made = handle(message.value())
                if made:
                    print(json.dumps(made), flush=True)
            if messages:
                consumer.commit(asynchronous=False)  # the work is done
    except KeyboardInterrupt:
        pass
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
