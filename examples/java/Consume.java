import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Prints the pages of a crawl, one line each: id, URL, title.
 *
 * <p>It is a member of a consumer group. Run it twice, and each copy gets half of the partitions.
 * Stop it, and the next run goes on where it was. Options, as "--name value":
 *
 * <ul>
 *   <li>brokers: host:port of brokers, comma-separated (127.0.0.1:9092)
 *   <li>crawl: name of the crawl (weft)
 *   <li>group: consumer group, who you are (my-warehouse)
 *   <li>pages: end after about so many pages; 0: never
 *   <li>idle: end when no page comes for so many seconds; 0: never
 * </ul>
 */
public class Consume {
  public static void main(String[] args) throws Exception {
    Map<String, String> options = new HashMap<>(Map.of(
        "--brokers", "127.0.0.1:9092", "--crawl", "weft", "--group", "my-warehouse", "--pages", "0", "--idle", "0"));
    for (int i = 0; i + 1 < args.length; i += 2) {
      if (options.replace(args[i], args[i + 1]) == null) throw new IllegalArgumentException(args[i]);
    }
    int pages = Integer.parseInt(options.get("--pages"));
    long idleNanos = Duration.ofSeconds(Long.parseLong(options.get("--idle"))).toNanos();

    Properties config = new Properties();
    config.put("bootstrap.servers", options.get("--brokers"));
    config.put("group.id", options.get("--group"));
    config.put("auto.offset.reset", "earliest"); // a new group begins at the topic's start
    config.put("enable.auto.commit", "false"); // commit what is done, and not what is read
    config.put("max.poll.records", "50");
    config.put("key.deserializer", ByteArrayDeserializer.class);
    config.put("value.deserializer", ByteArrayDeserializer.class);

    // After a crash, here or in the crawl, a page may come again with the same id. Make the id the
    // primary key of the database that the pages go to. This program has no database, and
    // remembers the ids of its own lifetime.
    Set<String> seen = new HashSet<>();
    ObjectMapper json = new ObjectMapper();
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
      consumer.subscribe(List.of(options.get("--crawl") + ".parsed"));
      long last = System.nanoTime();
      while (pages == 0 || seen.size() < pages) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(500));
        if (!records.isEmpty()) {
          last = System.nanoTime();
        } else if (idleNanos > 0 && System.nanoTime() - last > idleNanos) {
          break;
        }
        for (ConsumerRecord<byte[], byte[]> record : records) {
          JsonNode page = json.readTree(record.value());
          String id = page.get("id").asText();
          if (seen.add(id)) {
            System.out.printf("%s\t%s\t%s%n", id, page.get("url").asText(), page.path("title").asText());
          }
        }
        System.out.flush();
        consumer.commitSync(); // first make the work safe, then commit it: at least once
      }
    }
  }
}
