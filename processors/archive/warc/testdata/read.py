"""Reads WARC files with warcio, an implementation that shares nothing with
ours, and prints one JSON line for each record. Digests are verified while
reading; a mismatch ends the program with status 1."""
import base64, json, sys
from warcio.archiveiterator import ArchiveIterator

failed = False
for name in sys.argv[1:]:
    with open(name, "rb") as f:
        for r in ArchiveIterator(f, check_digests="raise"):
            h, http = r.rec_headers, r.http_headers
            body = r.content_stream().read()
            print(json.dumps({
                "type": r.rec_type,
                "url": h.get_header("WARC-Target-URI"),
                "version": h.protocol,
                "status": http.statusline if http else None,
                "headers": dict(http.headers) if http else None,
                "body": base64.b64encode(body).decode(),
            }))
            if r.digest_checker.passed is False:
                failed = True
sys.exit(1 if failed else 0)
