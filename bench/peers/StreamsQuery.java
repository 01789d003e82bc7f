import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.Stores;

/**
 * The bench's queries in Kafka Streams, exactly once. Arguments: brokers, folder, threads.
 *
 * <p>Says that it is ready; answers "projection IN OUT" and "join IN TABLE OUT" once the query has
 * been started, and "stop" once it has ended. Ends at the end of its input.
 */
public class StreamsQuery {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        KafkaStreams running = null;
        System.out.println("ready");
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("stop")) {
                running.close(Duration.ofSeconds(30));
                running.cleanUp();
            } else {
                String out = words[words.length - 1];
                running = new KafkaStreams(topology(words), settings(arguments, out));
                running.start();
            }
            System.out.println("done");
        }
    }

    private static Properties settings(String[] arguments, String name) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("application.id", "streams-" + name);
        settings.put("state.dir", arguments[1]);
        settings.put("num.stream.threads", arguments[2]);
        settings.put("processing.guarantee", StreamsConfig.EXACTLY_ONCE_V2);
        settings.put("topology.optimization", StreamsConfig.OPTIMIZE);
        settings.put("replication.factor", "1");
        // As long as our transactions, and the producer's settings of ours.
        settings.put("commit.interval.ms", "1000");
        settings.put("producer.linger.ms", "5");
        settings.put("producer.batch.size", "1000000");
        settings.put("consumer.max.poll.records", "10000");
        settings.put("consumer.auto.offset.reset", "earliest");
        settings.put("consumer.max.partition.fetch.bytes", "16777216");
        return settings;
    }

    private static org.apache.kafka.streams.Topology topology(String[] words) {
        StreamsBuilder builder = new StreamsBuilder();
        Consumed<String, byte[]> bytes = Consumed.with(Serdes.String(), Serdes.ByteArray());
        Produced<String, byte[]> produced = Produced.with(Serdes.String(), Serdes.ByteArray());
        KStream<String, ObjectNode> rows = builder.stream(words[1], bytes).mapValues(StreamsQuery::read);
        if (words[0].equals("projection")) {
            rows.filter((key, row) -> row.get("n").asInt() != 0)
                .mapValues(StreamsQuery::projected)
                .to(words[2], produced);
        } else {
            KeyValueBytesStoreSupplier store = Stores.inMemoryKeyValueStore("table");
            KTable<String, byte[]> table = builder.table(words[2], bytes,
                Materialized.<String, byte[]>as(store).withKeySerde(Serdes.String()).withValueSerde(Serdes.ByteArray()));
            rows.join(table, StreamsQuery::joined).to(words[3], produced);
        }
        Properties optimized = new Properties();
        optimized.put("topology.optimization", StreamsConfig.OPTIMIZE);
        return builder.build(optimized);
    }

    private static byte[] projected(ObjectNode row) {
        ObjectNode made = JSON.createObjectNode();
        made.put("PAGE", row.get("pageid").asText().toUpperCase());
        made.put("T", row.get("viewtime").asLong() + row.get("n").asInt());
        return written(made);
    }

    private static byte[] joined(ObjectNode row, byte[] user) {
        ObjectNode found = read(user);
        ObjectNode made = JSON.createObjectNode();
        made.put("PAGEID", row.get("pageid").asText());
        made.put("NAME", found.get("name").asText());
        made.put("CITY", found.get("city").asText());
        return written(made);
    }

    private static ObjectNode read(byte[] value) {
        try {
            return (ObjectNode) JSON.readTree(value);
        } catch (Exception error) {
            throw new RuntimeException(error);
        }
    }

    private static byte[] written(ObjectNode row) {
        try {
            return JSON.writeValueAsBytes(row);
        } catch (Exception error) {
            throw new RuntimeException(error);
        }
    }
}
