import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Gives URLs to a crawl: Seed [--brokers HOST:PORT,...] [--crawl NAME] [--depth N] URL...
 *
 * <p>With --depth, links are counted from that number on, so that a crawl with --max-depth follows
 * them less far.
 */
public class Seed {
  public static void main(String[] args) throws Exception {
    Map<String, String> options =
        new HashMap<>(Map.of("--brokers", "127.0.0.1:9092", "--crawl", "weft", "--depth", "0"));
    int i = 0;
    for (; i + 1 < args.length && args[i].startsWith("--"); i += 2) {
      if (options.replace(args[i], args[i + 1]) == null) throw new IllegalArgumentException(args[i]);
    }
    List<String> urls = List.of(args).subList(i, args.length);
    int depth = Integer.parseInt(options.get("--depth"));

    Properties config = new Properties();
    config.put("bootstrap.servers", options.get("--brokers"));
    config.put("acks", "all"); // the default; each record is written once and in order by default, too
    config.put("key.serializer", StringSerializer.class);
    config.put("value.serializer", StringSerializer.class);

    ObjectMapper json = new ObjectMapper();
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(config)) {
      for (String url : urls) {
        // A seed is a URL in plain text, or a JSON object with options. It needs no key, and any
        // partition will do.
        String value = depth == 0 ? url : json.writeValueAsString(Map.of("url", url, "depth", depth));
        sent.add(producer.send(new ProducerRecord<>(options.get("--crawl") + ".seeds", value)));
      }
    } // close waits for all acknowledgements
    for (Future<RecordMetadata> one : sent) one.get(); // throws if it was not written
    System.out.println(urls.size() + " seeds");
  }
}
