import static org.archive.io.ArchiveFileConstants.ABSOLUTE_OFFSET_KEY;
import static org.archive.io.ArchiveFileConstants.READER_IDENTIFIER_FIELD_KEY;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.archive.io.ArchiveRecord;
import org.archive.io.warc.WARCReader;
import org.archive.io.warc.WARCReaderFactory;
import org.json.JSONObject;
import org.netpreserve.jwarc.WarcDigest;
import org.netpreserve.jwarc.WarcReader;
import org.netpreserve.jwarc.WarcRecord;
import org.netpreserve.jwarc.WarcResponse;

// Reads a WARC file with the reader of Heritrix (heritrix FILE) or with jwarc (jwarc FILE), and prints a
// line of JSON for each record. jwarc compares the digests, and Heritrix does not. What a reader does not
// like ends the program with status 1.
public class Read {
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "heritrix" -> heritrix(new File(args[1]));
            case "jwarc" -> jwarc(Path.of(args[1]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    static void heritrix(File file) throws Exception {
        try (WARCReader reader = WARCReaderFactory.get(file)) {
            reader.setStrict(true);
            for (ArchiveRecord record : reader) {
                Map<String, String> fields = new TreeMap<>();
                record.getHeader().getHeaderFields().forEach((name, value) -> fields.put(name, value.toString()));
                fields.keySet().removeAll(Set.of(READER_IDENTIFIER_FIELD_KEY, ABSOLUTE_OFFSET_KEY)); // its own
                var block = new ByteArrayOutputStream();
                record.transferTo(block); // readAllBytes ends after 8 KiB: for no bytes wanted, read returns -1
                print(record.getHeader().getOffset(), fields, "block", block.toByteArray());
                record.close();
            }
        }
    }

    static void jwarc(Path file) throws Exception {
        try (WarcReader reader = new WarcReader(file)) {
            reader.onWarning(warning -> { throw new IllegalStateException(warning); });
            reader.calculateBlockDigest();
            for (WarcRecord record : reader) {
                long offset = reader.position();
                Map<String, String> fields = new TreeMap<>();
                record.headers().map().forEach((name, values) -> fields.put(name, String.join(", ", values)));
                if (record instanceof WarcResponse response) {
                    byte[] payload = response.http().body().stream().readAllBytes();
                    if (response.payloadDigest().isPresent()) compare(response.payloadDigest().get(), payload);
                    print(offset, fields, "payload", payload);
                } else {
                    print(offset, fields, "block", record.body().stream().readAllBytes());
                }
                var claimed = record.blockDigest();
                if (claimed.isPresent() && !claimed.equals(record.calculatedBlockDigest())) {
                    throw new IllegalStateException("block of " + record.id() + " is not " + claimed.get());
                }
            }
        }
    }

    static void compare(WarcDigest claimed, byte[] payload) throws Exception {
        var digest = claimed.getDigester();
        digest.update(payload);
        if (!claimed.equals(new WarcDigest(digest))) {
            throw new IllegalStateException("payload is not " + claimed);
        }
    }

    static void print(long offset, Map<String, String> fields, String of, byte[] content) {
        System.out.println(new JSONObject(Map.of("offset", offset, "fields", fields, of, Base64.getEncoder().encodeToString(content))));
    }
}
