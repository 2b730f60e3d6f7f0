import java.nio.file.Files;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * One commit of Kafka Streams times out on the client after the broker has carried it out. Records
 * that were polled and not yet processed are then skipped: exactly_once_v2 loses them, and logs no
 * error but the timeout. No proxy, no onceproof: a broker and the jars of kafka-streams.
 *
 * <p>java -cp 'kafka-streams and what it needs' SkipAfterCorrupted.java localhost:9092
 */
public final class SkipAfterCorrupted {
    static final int RECORDS = 8_400;
    static final Duration WAIT_MAX = Duration.ofSeconds(60);

    public static void main(String[] arguments) throws Exception {
        String servers = arguments[0];
        String app = "skip-" + UUID.randomUUID();
        String input = app + "-in";
        String output = app + "-out";
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(List.of(new NewTopic(input, 1, (short) -1), new NewTopic(output, 1, (short) -1)))
                    .all()
                    .get();
            feed(servers, input);
            StreamsBuilder builder = new StreamsBuilder();
            builder.stream(input).to(output);
            KafkaStreams streams = new KafkaStreams(builder.build(), settings(servers, app), new OneTimeout());
            streams.start();
            awaitCommitted(admin, app, new TopicPartition(input, 0));
            streams.close(Duration.ofSeconds(30));
        }
        Set<String> seen = readCommitted(servers, new TopicPartition(output, 0));
        List<Integer> lost = IntStream.range(0, RECORDS)
                .filter(number -> !seen.contains(Integer.toString(number)))
                .boxed()
                .toList();
        System.out.println("fed " + RECORDS + ", committed position " + RECORDS + ", came out " + seen.size()
                + ", lost " + lost.size()
                + (lost.isEmpty() ? "" : ": from " + lost.get(0) + " to " + lost.get(lost.size() - 1)));
        System.exit(lost.isEmpty() ? 0 : 1);
    }

    /**
     * The first commitTransaction is carried out, and then says that it timed out. Asked again, the
     * producer says that it is done, as KafkaProducer does when the answer has come meanwhile.
     */
    private static final class OneTimeout extends DefaultKafkaClientSupplier {
        private final AtomicBoolean done = new AtomicBoolean();
        private final AtomicBoolean isLate = new AtomicBoolean();

        @Override
        public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
            return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer()) {
                @Override
                public void commitTransaction() {
                    if (isLate.compareAndSet(true, false)) {
                        return;
                    }
                    super.commitTransaction();
                    if (done.compareAndSet(false, true)) {
                        isLate.set(true);
                        throw new TimeoutException("its answer came too late");
                    }
                }
            };
        }
    }

    static Properties settings(String servers, String app) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", servers);
        settings.put("application.id", app);
        settings.put("processing.guarantee", "exactly_once_v2");
        settings.put("auto.offset.reset", "earliest");
        settings.put("default.key.serde", Serdes.ByteArraySerde.class.getName());
        settings.put("default.value.serde", Serdes.ByteArraySerde.class.getName());
        settings.put("state.dir", Files.createTempDirectory(app).toString());
        return settings;
    }

    static void feed(String servers, String topic) {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers);
        try (Producer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < RECORDS; number++) {
                producer.send(new ProducerRecord<>(topic, "k", Integer.toString(number)));
            }
        }
    }

    static void awaitCommitted(Admin admin, String group, TopicPartition partition) throws Exception {
        long end = System.nanoTime() + WAIT_MAX.toNanos();
        while (System.nanoTime() < end) {
            var offsets = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
            var position = offsets.get(partition);
            if (position != null && position.offset() >= RECORDS) {
                return;
            }
            Thread.sleep(200);
        }
        throw new IllegalStateException("the input was not read to its end within " + WAIT_MAX);
    }

    static Set<String> readCommitted(String servers, TopicPartition partition) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", servers, "isolation.level", "read_committed", "group.id", "reader");
        Set<String> seen = new HashSet<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofSeconds(1))) {
                    seen.add(each.value());
                }
            }
        }
        return seen;
    }
}
