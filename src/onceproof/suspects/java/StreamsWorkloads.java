import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KafkaStreams.State;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The four workloads on Kafka Streams, with nothing in between: one processor, and one RocksDB store (none with copy,
 * unless a punctuator writes to it).
 *
 * <p>Arguments: workload (copy, fold, dedup, last), input topic, output topic, whether the store is
 * cached (true, false), the least length of a state, how often a punctuator writes down what is late (ms;
 * 0: nothing is), how long each record takes (ms), then properties of Kafka Streams as name=value or as @FILE; later
 * ones have the last word.
 * Runs until SIGTERM. A property that Streams refuses ends it with code 78, another failure with 1.
 */
public final class StreamsWorkloads {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STORE = "state";
    private static final int MISCONFIGURED = 78;

    public static void main(String[] arguments) throws Exception {
        KafkaStreams streams;
        try {
            streams = new KafkaStreams(topology(arguments), properties(arguments));
        } catch (KafkaException | IllegalArgumentException problem) {
            Throwable refusal = problem;
            while (refusal != null
                    && !(refusal instanceof ConfigException)
                    && !(refusal instanceof IllegalArgumentException)) {
                refusal = refusal.getCause();
            }
            if (refusal == null) {
                throw problem;
            }
            say("misconfigured", "why", refusal.toString());
            System.exit(MISCONFIGURED);
            return;
        }
        CountDownLatch failed = new CountDownLatch(1);
        AtomicReference<String> why = new AtomicReference<>("");
        streams.setStateListener((now, before) -> {
            if (now == State.RUNNING) {
                say("started");
            } else if (now == State.ERROR) {
                failed.countDown();
            }
        });
        streams.setUncaughtExceptionHandler(exception -> {
            say("exception", "why", exception.toString());
            why.set(exception.toString());
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close(Duration.ofSeconds(30));
            if (failed.getCount() == 0) {
                say("failed", "why", why.get());
            } else {
                say("stopped");
            }
        }));
        streams.start();
        failed.await();
        System.exit(1);
    }

    static Topology topology(String[] arguments) {
        Serde<String> text = Serdes.String();
        Topology topology = new Topology();
        topology.addSource("input", text.deserializer(), text.deserializer(), arguments[1]);
        int stateBytes = Integer.parseInt(arguments[4]);
        int watermarkMs = Integer.parseInt(arguments[5]);
        int workMs = Integer.parseInt(arguments[6]);
        topology.addProcessor("step", () -> new Step(arguments[0], stateBytes, watermarkMs, workMs), "input");
        topology.addSink("output", arguments[2], text.serializer(), text.serializer(), "step");
        StoreBuilder<KeyValueStore<String, String>> store =
                Stores.keyValueStoreBuilder(Stores.persistentKeyValueStore(STORE), text, text);
        boolean cached = Boolean.parseBoolean(arguments[3]);
        if (!arguments[0].equals("copy") || watermarkMs > 0) {
            topology.addStateStore(cached ? store.withCachingEnabled() : store.withCachingDisabled(), "step");
        }
        return topology;
    }

    static Properties properties(String[] arguments) throws IOException {
        Properties properties = new Properties();
        for (int place = 7; place < arguments.length; place++) {
            if (arguments[place].startsWith("@")) {
                properties.load(Files.newBufferedReader(Path.of(arguments[place].substring(1))));
                continue;
            }
            String[] pair = arguments[place].split("=", 2);
            properties.setProperty(pair[0], pair[1]);
        }
        return properties;
    }

    private static final class Step implements Processor<String, String, String, String> {
        private final String workload;
        private final int stateBytes;
        private final int watermarkMs;
        private final int workMs;
        private final Map<String, Long> lastSeqs = new HashMap<>();
        private ProcessorContext<String, String> context;
        private KeyValueStore<String, String> store;

        Step(String workload, int stateBytes, int watermarkMs, int workMs) {
            this.workload = workload;
            this.stateBytes = stateBytes;
            this.watermarkMs = watermarkMs;
            this.workMs = workMs;
        }

        @Override
        public void init(ProcessorContext<String, String> context) {
            this.context = context;
            this.store = workload.equals("copy") && watermarkMs == 0 ? null : context.getStateStore(STORE);
            if (watermarkMs > 0) {
                context.schedule(
                        Duration.ofMillis(watermarkMs), PunctuationType.WALL_CLOCK_TIME, now -> writeWatermarks());
            }
        }

        private void writeWatermarks() {
            lastSeqs.forEach((key, seq) -> keep(key, Long.toString(seq)));
            lastSeqs.clear();
        }

        /** Not above what the punctuator has written down for its key; others are remembered for it. */
        private boolean isLate(String key, long seq) {
            String kept = store.get(key);
            if (kept != null && seq <= Long.parseLong(kept.trim())) {
                return true;
            }
            lastSeqs.put(key, seq);
            return false;
        }

        @Override
        public void process(Record<String, String> record) {
            LockSupport.parkNanos(workMs * 1_000_000L);
            if (watermarkMs > 0 && isLate(record.key(), parsed(record.value()).get("seq").asLong())) {
                return;
            }
            String output = outputOf(record.key(), record.value());
            if (output != null) {
                context.forward(record.withValue(output));
            }
        }

        private String outputOf(String key, String value) {
            switch (workload) {
                case "fold": return fold(key, parsed(value));
                case "dedup": return dedup(parsed(value).get("id").asText(), value);
                case "last": return last(key, parsed(value));
                default: return value;
            }
        }

        private String fold(String key, JsonNode record) {
            String kept = store.get(key);
            JsonNode before = kept == null ? JSON.createObjectNode() : parsed(kept);
            long value = record.get("value").asLong();
            ObjectNode now = JSON.createObjectNode();
            now.put("key", key);
            now.put("count", before.path("count").asLong(0) + 1);
            now.put("max", Math.max(before.path("max").asLong(value), value));
            now.put("id", record.get("id").asText());
            keep(key, now.toString());
            return now.toString();
        }

        private String dedup(String id, String value) {
            if (store.get(id) != null) {
                return null;
            }
            keep(id, value);
            return value;
        }

        private String last(String key, JsonNode record) {
            String kept = store.get(key);
            long expected = record.get("seq").asLong() - 1;
            long found = kept == null ? -1 : Long.parseLong(kept.trim());
            keep(key, record.get("seq").asText());
            if (found != expected) {
                say("stale", "expected", expected, "found", found, "partition", context.taskId().partition());
            }
            ObjectNode output = JSON.createObjectNode();
            output.put("id", record.get("id").asText());
            return output.put("key", key).put("expected", expected).put("found", found).toString();
        }

        /** Filled up with spaces: long states fill RocksDB's memtables soon. */
        private void keep(String key, String state) {
            String spaces = " ".repeat(Math.max(0, stateBytes - state.length()));
            store.put(key, state + spaces);
        }
    }

    static JsonNode parsed(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("not JSON: " + text, error);
        }
    }

    /** One JSON line; facts are names and values in turn. */
    static void say(String event, Object... facts) {
        ObjectNode line = JSON.createObjectNode().put("event", event);
        for (int place = 0; place < facts.length; place += 2) {
            line.putPOJO((String) facts[place], facts[place + 1]);
        }
        System.out.println(line);
    }
}
