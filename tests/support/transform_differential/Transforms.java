import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.internals.Plugin;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.TransformationStage;
import org.apache.kafka.connect.runtime.isolation.LoaderSwap;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Reads cases from a file of JSON, applies Kafka Connect's own transforms, and prints what they answer. */
public class Transforms {
    static final ObjectMapper JSON = new ObjectMapper();
    static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    static final JsonConverter KEYS = converter(true);
    static final JsonConverter VALUES = converter(false);
    static final SimpleHeaderConverter HEADERS = new SimpleHeaderConverter();

    static JsonConverter converter(boolean isKey) {
        JsonConverter made = new JsonConverter();
        Map<String, Object> config = new HashMap<>();
        config.put("schemas.enable", "true");
        config.put("replace.null.with.default", "false");
        made.configure(config, isKey);
        return made;
    }

    public static void main(String[] args) throws Exception {
        ArrayNode answers = NODES.arrayNode();
        for (JsonNode one : JSON.readTree(new File(args[0]))) {
            answers.add(answer(one));
        }
        JSON.writeValue(new File(args[1]), answers);
    }

    static JsonNode answer(JsonNode one) {
        ArrayNode rows = NODES.arrayNode();
        TransformationStage stage;
        try {
            stage = stage(one);
        } catch (Exception error) {
            return NODES.objectNode().put("refused", error.toString());
        }
        for (int row = 0; row < one.get("rows").size(); row++) {
            rows.add(row(stage, one, row));
        }
        return rows;
    }

    /** As a worker makes one of a configuration; it applies the transform where the predicate says so. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static TransformationStage stage(JsonNode one) throws Exception {
        Transformation transform = (Transformation) made(one.get("class"));
        transform.configure(JSON.convertValue(one.get("config"), Map.class));
        Function<ClassLoader, LoaderSwap> swap = loader -> new LoaderSwap(loader);
        if (one.get("predicate").isNull()) {
            Constructor<TransformationStage> plain = TransformationStage.class.getDeclaredConstructor(
                Plugin.class, String.class, String.class, Function.class);
            plain.setAccessible(true);
            return plain.newInstance(plugin(transform), "t", "1", swap);
        }
        Predicate predicate = (Predicate) made(one.get("predicate"));
        predicate.configure(JSON.convertValue(one.get("predicateConfig"), Map.class));
        Constructor<TransformationStage> chosen = TransformationStage.class.getDeclaredConstructor(
            Plugin.class, String.class, String.class, boolean.class, Plugin.class, String.class, String.class,
            Function.class);
        chosen.setAccessible(true);
        return chosen.newInstance(plugin(predicate), "p", "1", one.get("negate").asBoolean(),
            plugin(transform), "t", "1", swap);
    }

    static Object made(JsonNode name) throws Exception {
        return Class.forName(name.asText()).getDeclaredConstructor().newInstance();
    }

    static <T> Plugin<T> plugin(T instance) {
        return Plugin.wrapInstance(instance, (Metrics) null, "transform");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static JsonNode row(TransformationStage stage, JsonNode one, int row) {
        ConnectRecord record;
        try {
            record = record(one, row);
        } catch (Exception error) {
            return NODES.objectNode().put("unreadable", error.toString());
        }
        try {
            record = stage.apply(record);
        } catch (Exception error) {
            return NODES.objectNode().put("error", error.toString());
        }
        if (record == null) {
            return NODES.objectNode().put("dropped", true);
        }
        return shown(record);
    }

    static ConnectRecord record(JsonNode one, int row) throws Exception {
        JsonNode told = one.get("rows").get(row);
        SchemaAndValue key = side(KEYS, one.get("keySchema"), told.get("key"));
        SchemaAndValue value = side(VALUES, one.get("valueSchema"), told.get("value"));
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : told.get("headers")) {
            String name = header.get(0).asText();
            byte[] data = header.get(1).isNull() ? null : header.get(1).asText().getBytes(StandardCharsets.UTF_8);
            headers.add(name, HEADERS.toConnectHeader("t", name, data));
        }
        String topic = told.get("topic").asText();
        Integer partition = told.get("partition").isNull() ? null : told.get("partition").asInt();
        Long timestamp = told.get("timestamp").isNull() ? null : told.get("timestamp").asLong();
        if (one.get("sink").asBoolean()) {
            return new SinkRecord(topic, partition, key.schema(), key.value(), value.schema(), value.value(),
                told.get("offset").asLong(), timestamp, TimestampType.CREATE_TIME, headers);
        }
        return new SourceRecord(new HashMap<>(), new HashMap<>(), topic, partition, key.schema(), key.value(),
            value.schema(), value.value(), timestamp, headers);
    }

    static SchemaAndValue side(JsonConverter converter, JsonNode schema, JsonNode payload) throws Exception {
        if (payload.isNull() && (schema.isNull() || !schema.path("optional").asBoolean(false))) {
            return SchemaAndValue.NULL;
        }
        ObjectNode envelope = NODES.objectNode();
        envelope.set("schema", schema);
        envelope.set("payload", payload);
        SchemaAndValue read = converter.toConnectData("t", JSON.writeValueAsBytes(envelope));
        return payload.isNull() ? new SchemaAndValue(read.schema(), null) : read;
    }

    static JsonNode shown(ConnectRecord record) {
        ObjectNode made = NODES.objectNode();
        made.put("topic", record.topic());
        made.put("partition", record.kafkaPartition());
        made.put("timestamp", record.timestamp());
        made.set("key", shown(KEYS, record.keySchema(), record.key()));
        made.set("value", shown(VALUES, record.valueSchema(), record.value()));
        ArrayNode headers = made.putArray("headers");
        for (Iterator<Header> all = record.headers().iterator(); all.hasNext();) {
            Header header = all.next();
            byte[] data = HEADERS.fromConnectHeader("t", header.key(), header.schema(), header.value());
            headers.addArray().add(header.key()).add(data == null ? null : new String(data, StandardCharsets.UTF_8));
        }
        return made;
    }

    static JsonNode shown(JsonConverter converter, Schema schema, Object value) {
        if (value == null) {
            return NODES.nullNode();
        }
        try {
            return JSON.readTree(converter.fromConnectData("t", schema, value));
        } catch (Exception error) {
            return NODES.objectNode().put("unconvertible", error.toString());
        }
    }
}
