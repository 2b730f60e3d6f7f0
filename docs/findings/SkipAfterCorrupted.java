import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.common.utils.AppInfoParser;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * One commit of Kafka Streams times out on the client after the broker has carried it out. Records that were polled
 * and not yet processed are then skipped: exactly_once_v2 loses them, and at_least_once in a revocation, and no
 * error is logged but the timeout. The topology has no state: one source, one sink. No proxy, no onceproof: a broker
 * and the jars of kafka-streams.
 *
 * <pre>
 * java -cp "$(ls jars/*.jar | tr '\n' ':')" SkipAfterCorrupted.java localhost:9092 [key=value …]
 *   records=8400       in each partition with a backlog; they are there before the application starts
 *   later=0            more in each of them, two seconds after the commit that fails
 *   partitions=1       of the input and of the output
 *   backlog=all        or the partitions that have one: backlog=0, backlog=0,2
 *   instances=1        of the application, all in this process
 *   record_ms=0        so long each record takes to be processed
 *   planted=true       false: the control, in which no commit fails
 *   revocation=false   true: the commit that fails is one a stream thread makes while partitions are taken from it
 *   some.property=…    of Kafka Streams, word for word: num.stream.threads=2, processing.guarantee=at_least_once
 * </pre>
 *
 * The commit that fails is the first; in a group, the first once every stream thread that can have a task has one
 * (with record_ms=1 the backlog lasts until then). With revocation=true it is the first of that kind: the second
 * instance is started when the first one has committed something of each partition, and takes one from it; a short
 * max.poll.interval.ms, of which Streams works for half before it polls again, leaves some of the others polled and
 * not processed. All that is printed was fetched: the group's position right after that commit and at the end, what
 * the topics hold (read_committed), and each seek of Streams' main consumers. Then the application is closed, started
 * again with nothing planted, and looked at again when it is idle.
 *
 * <p>Exit code: 0 nothing is lost, 1 records are lost and stay so after the restart, 2 it could not be told.
 *
 * <p>Streams' log needs a binding: with slf4j-simple (of slf4j-api's version) on the class path it is on standard
 * error. Where nothing is lost, "Seeking to offset" follows "are corrupted" there; where records are, it does not.
 */
public final class SkipAfterCorrupted {
    static final Duration WAIT_MAX = Duration.ofMinutes(3), IDLE = Duration.ofSeconds(5);
    final Map<String, String> options = new TreeMap<>(Map.of("records", "8400", "later", "0", "partitions", "1",
            "backlog", "all", "instances", "1", "record_ms", "0", "planted", "true", "revocation", "false"));
    final Map<String, String> properties = new TreeMap<>();
    final String servers, app = "skip-" + UUID.randomUUID(), input = app + "-in", output = app + "-out";
    final Admin admin;
    final List<KafkaStreams> running = new CopyOnWriteArrayList<>();
    final AtomicReference<Map<Integer, Long>> afterTheCommit = new AtomicReference<>();
    final Queue<String> seeks = new ConcurrentLinkedQueue<>();

    public static void main(String[] arguments) {
        int code = 2;
        try {
            code = new SkipAfterCorrupted(arguments).run();
        } catch (Exception problem) {
            System.out.println("could not be told: " + problem);
        }
        System.exit(code);
    }

    SkipAfterCorrupted(String[] arguments) {
        servers = arguments[0];
        for (String given : List.of(arguments).subList(1, arguments.length)) {
            String[] pair = given.split("=", 2);
            boolean isOption = options.containsKey(pair[0]);
            if (pair.length != 2 || !isOption && !pair[0].contains(".")) {
                throw new IllegalArgumentException(given + "; known: " + options + " and properties of Streams");
            }
            (isOption ? options : properties).put(pair[0], pair[1]);
        }
        admin = Admin.create(Map.of("bootstrap.servers", servers));
    }

    int run() throws Exception {
        System.out.println("Kafka " + AppInfoParser.getVersion() + ", " + options + ", of Streams " + properties);
        var topics = Stream.of(input, output).map(each -> new NewTopic(each, of("partitions"), (short) -1)).toList();
        admin.createTopics(topics).all().get();
        feed(0, of("records"));
        work(new Watched());
        if (afterTheCommit.get() == null) {
            throw new IllegalStateException("no commit came that was to fail: see Streams' log");
        }
        System.out.println((isInRevocation() ? "the commit of a revocation" : "the first commit")
                + (isPlanted() ? ", which timed out" : "")
                + ": position " + afterTheCommit.get() + "; seeks: " + seeks);
        countLost("at the end");
        work(new DefaultKafkaClientSupplier());
        return countLost("after a restart") == 0 ? 0 : 1;
    }

    int of(String option) {
        return Integer.parseInt(options.get(option));
    }

    boolean isPlanted() {
        return options.get("planted").equals("true");
    }

    boolean isInRevocation() {
        return options.get("revocation").equals("true");
    }

    List<TopicPartition> partitionsOf(String topic) {
        return IntStream.range(0, of("partitions")).mapToObj(each -> new TopicPartition(topic, each)).toList();
    }

    /** Each value is unique, so the output shows which of them came out. */
    void feed(int first, int count) {
        List<String> busy = List.of(options.get("backlog").split(","));
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", servers), new StringSerializer(), new StringSerializer())) {
            for (TopicPartition each : partitionsOf(input)) {
                boolean hasBacklog = busy.contains("all") || busy.contains(Integer.toString(each.partition()));
                for (int record = first; hasBacklog && record < first + count; record++) {
                    producer.send(new ProducerRecord<>(input, each.partition(), "k", each.partition() + "#" + record));
                }
            }
        }
    }

    /** Starts the application, and closes it when it has been idle for a while. */
    void work(KafkaClientSupplier supplier) throws Exception {
        running.clear();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(input).peek((key, value) -> LockSupport.parkNanos(of("record_ms") * 1_000_000L)).to(output);
        for (int instance = 0; instance < of("instances"); instance++) {
            running.add(new KafkaStreams(builder.build(), settings(), supplier));
            running.get(instance).start();
            if (instance == 0 && supplier instanceof Watched && isInRevocation()) {
                awaitAtWork();
            }
        }
        if (supplier instanceof Watched && of("later") > 0) {
            awaitTheCommit();
            Thread.sleep(2_000);
            feed(of("records"), of("later"));
        }
        awaitIdle();
        running.forEach(each -> each.close(Duration.ofMinutes(1)));
    }

    Properties settings() throws Exception {
        Properties settings = new Properties();
        settings.putAll(Map.of("bootstrap.servers", servers, "application.id", app, "auto.offset.reset", "earliest",
                "processing.guarantee", "exactly_once_v2", "state.dir", Files.createTempDirectory(app).toString(),
                "default.key.serde", Serdes.ByteArraySerde.class.getName(),
                "default.value.serde", Serdes.ByteArraySerde.class.getName()));
        settings.putAll(properties);
        return settings;
    }

    /** Something of each partition is committed. */
    void awaitAtWork() throws Exception {
        long deadline = System.nanoTime() + WAIT_MAX.toNanos();
        while (positions().size() < of("partitions") && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
    }

    void awaitTheCommit() throws Exception {
        long deadline = System.nanoTime() + WAIT_MAX.toNanos();
        while (afterTheCommit.get() == null && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
    }

    /** Idle: every instance is RUNNING, and the group's position is at the end of the input. */
    void awaitIdle() throws Exception {
        var asked = partitionsOf(input).stream().collect(Collectors.toMap(each -> each, each -> OffsetSpec.latest()));
        var ends = admin.listOffsets(asked).all().get();
        long deadline = System.nanoTime() + WAIT_MAX.toNanos(), since = System.nanoTime();
        while (System.nanoTime() - since < IDLE.toNanos()) {
            Map<Integer, Long> positions = positions();
            boolean isRead = ends.entrySet().stream().allMatch(
                    end -> positions.getOrDefault(end.getKey().partition(), 0L) >= end.getValue().offset());
            List<KafkaStreams.State> states = running.stream().map(KafkaStreams::state).toList();
            if (!isRead || !Set.of(KafkaStreams.State.RUNNING).containsAll(states)) {
                since = System.nanoTime();
            }
            if (System.nanoTime() > deadline || states.contains(KafkaStreams.State.ERROR)) {
                throw new IllegalStateException("position " + positions + ", " + states + ": see Streams' log");
            }
            Thread.sleep(200);
        }
    }

    /** As committed by the group; one in a transaction that is still open is waited for. */
    Map<Integer, Long> positions() {
        var found = admin.listConsumerGroupOffsets(app, new ListConsumerGroupOffsetsOptions().requireStable(true))
                .partitionsToOffsetAndMetadata().toCompletionStage().toCompletableFuture().join();
        return new TreeMap<>(found.entrySet().stream().filter(each -> each.getValue() != null).collect(
                Collectors.toMap(each -> each.getKey().partition(), each -> each.getValue().offset())));
    }

    int countLost(String when) {
        List<ConsumerRecord<String, String>> fed = read(input), written = read(output);
        Set<String> cameOut = written.stream().map(ConsumerRecord::value).collect(Collectors.toSet());
        List<ConsumerRecord<String, String>> lost =
                fed.stream().filter(each -> !cameOut.contains(each.value())).toList();
        Map<Integer, Set<Long>> offsets = new TreeMap<>();
        lost.forEach(each -> offsets.computeIfAbsent(each.partition(), it -> new TreeSet<>()).add(each.offset()));
        StringJoiner which = new StringJoiner("; ");
        offsets.forEach((partition, each) -> which.add("partition " + partition + ", offsets " + ranges(each)));
        System.out.println(when + ": fed " + fed.size() + ", position " + positions() + ", came out " + cameOut.size()
                + " (" + written.size() + " written), lost " + lost.size() + (lost.isEmpty() ? "" : ": " + which));
        return lost.size();
    }

    static String ranges(Set<Long> offsets) {
        var firsts = offsets.stream().filter(each -> !offsets.contains(each - 1)).iterator();
        var lasts = offsets.stream().filter(each -> !offsets.contains(each + 1)).iterator();
        StringJoiner told = new StringJoiner(", ");
        while (firsts.hasNext()) {
            told.add(firsts.next() + " to " + lasts.next());
        }
        return told.toString();
    }

    List<ConsumerRecord<String, String>> read(String topic) {
        Map<String, Object> settings = Map.of("bootstrap.servers", servers, "isolation.level", "read_committed",
                "enable.auto.commit", "false", "auto.offset.reset", "earliest");
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(partitionsOf(topic));
            var ends = consumer.endOffsets(partitionsOf(topic));
            while (partitionsOf(topic).stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                consumer.poll(Duration.ofSeconds(1)).forEach(found::add);
            }
        }
        return found;
    }

    /** Its clients are Kafka's own, but for one commit, and for saying where they seek. */
    private final class Watched extends DefaultKafkaClientSupplier {
        private final ThreadLocal<Boolean> isRevoking = ThreadLocal.withInitial(() -> false);

        /** As KafkaProducer: asked again, it is done if the answer has come; before that it takes nothing. */
        @Override
        public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
            return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer()) {
                private boolean isAskedAgain;

                @Override
                public void commitTransaction() {
                    if (isAskedAgain) {
                        isAskedAgain = false;
                        return;
                    }
                    super.commitTransaction();
                    if (isTheOne() && isPlanted()) {
                        isAskedAgain = true;
                        throw new TimeoutException("its answer came too late");
                    }
                }

                @Override
                public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                    if (isAskedAgain) {
                        throw new IllegalStateException("commitTransaction timed out and must be retried");
                    }
                    return super.send(record, callback);
                }
            };
        }

        private boolean isTheOne() {
            boolean isDue = afterTheCommit.get() == null && (isInRevocation() ? isRevoking.get() : areAllAtWork());
            return isDue && afterTheCommit.compareAndSet(null, positions());
        }

        private boolean areAllAtWork() {
            int threads = Integer.parseInt(properties.getOrDefault("num.stream.threads", "1")) * of("instances");
            int wanted = Math.min(threads, of("partitions"));
            return wanted == 1 || threadsWithATask() >= wanted;
        }

        private long threadsWithATask() {
            return running.stream().flatMap(each -> each.metadataForLocalThreads().stream())
                    .filter(thread -> !thread.activeTasks().isEmpty()).count();
        }

        @Override
        public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
            return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer()) {
                /** What at_least_once commits by. */
                @Override
                public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets) {
                    super.commitSync(offsets);
                    if (isTheOne() && isPlanted()) {
                        throw new TimeoutException("its answer came too late");
                    }
                }

                @Override
                public void subscribe(Collection<String> topics, ConsumerRebalanceListener listener) {
                    super.subscribe(topics, new Marking(listener));
                }

                @Override
                public void seek(TopicPartition partition, long offset) {
                    seeks.add("partition " + partition.partition() + " to " + offset);
                    super.seek(partition, offset);
                }

                @Override
                public void seek(TopicPartition partition, OffsetAndMetadata position) {
                    seeks.add("partition " + partition.partition() + " to " + position.offset());
                    super.seek(partition, position);
                }

                @Override
                public void seekToBeginning(Collection<TopicPartition> partitions) {
                    partitions.forEach(each -> seeks.add("partition " + each.partition() + " to the beginning"));
                    super.seekToBeginning(partitions);
                }

                @Override
                public void seekToEnd(Collection<TopicPartition> partitions) {
                    partitions.forEach(each -> seeks.add("partition " + each.partition() + " to the end"));
                    super.seekToEnd(partitions);
                }
            };
        }

        /** Streams' own listener; while it hands partitions back, its thread is marked. */
        private final class Marking implements ConsumerRebalanceListener {
            private final ConsumerRebalanceListener inner;

            Marking(ConsumerRebalanceListener inner) {
                this.inner = inner;
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                isRevoking.set(true);
                try {
                    inner.onPartitionsRevoked(partitions);
                } finally {
                    isRevoking.set(false);
                }
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                inner.onPartitionsAssigned(partitions);
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                inner.onPartitionsLost(partitions);
            }
        }
    }
}
