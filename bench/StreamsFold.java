import java.nio.ByteBuffer;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/**
 * Count and maximum per key with Kafka Streams' own operators, exactly_once_v2, a RocksDB store.
 *
 * Arguments: bootstrap servers, input topic, output topic, application id, state directory,
 * threads, commit interval in ms, cache in bytes. Prints "running" and "first record" with the
 * time; runs until SIGTERM.
 */
public final class StreamsFold {
    static final int NUMBER_DIGITS = 12;

    record Fold(long count, long max) {
        Fold with(long number) {
            return new Fold(count + 1, Math.max(max, number));
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        StreamsBuilder builder = new StreamsBuilder();
        AtomicBoolean begun = new AtomicBoolean();
        builder.stream(arguments[1], Consumed.with(Serdes.String(), Serdes.String()))
            .groupByKey()
            .aggregate(
                () -> new Fold(0, Long.MIN_VALUE),
                (key, value, fold) -> {
                    if (!begun.get() && begun.compareAndSet(false, true)) {
                        say("first record");
                    }
                    return fold.with(Long.parseLong(value, 0, NUMBER_DIGITS, 10));
                },
                Materialized.<String, Fold>as(Stores.persistentKeyValueStore("folds"))
                    .withKeySerde(Serdes.String())
                    .withValueSerde(foldSerde()))
            .toStream()
            .mapValues(fold -> fold.count() + " " + fold.max())
            .to(arguments[2], Produced.with(Serdes.String(), Serdes.String()));

        KafkaStreams streams = new KafkaStreams(builder.build(), settings(arguments));
        streams.setStateListener((now, before) -> say(now.name().toLowerCase()));
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close();
            ended.countDown();
        }));
        streams.start();
        ended.await();
    }

    static Properties settings(String[] arguments) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, arguments[3]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, arguments[4]);
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, arguments[5]);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, arguments[6]);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, arguments[7]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, "3");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        settings.put(StreamsConfig.producerPrefix(ProducerConfig.COMPRESSION_TYPE_CONFIG), "lz4");
        return settings;
    }

    static Serde<Fold> foldSerde() {
        return Serdes.serdeFrom(
            (topic, fold) -> fold == null ? null
                : ByteBuffer.allocate(16).putLong(fold.count()).putLong(fold.max()).array(),
            (topic, bytes) -> {
                if (bytes == null) {
                    return null;
                }
                ByteBuffer buffer = ByteBuffer.wrap(bytes);
                return new Fold(buffer.getLong(), buffer.getLong());
            });
    }

    static void say(String event) {
        long now = System.currentTimeMillis();
        System.out.println("{\"event\": \"" + event + "\", \"at_ms\": " + now + "}");
    }
}
