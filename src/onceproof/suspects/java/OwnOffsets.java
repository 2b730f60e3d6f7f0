import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Exactly once with the offsets in a topic of its own, as a service in Java does it.
 *
 * <pre>
 * partition assigned ─▶ FENCE (initTransactions) ─▶ RESTORE (end offset, seek, poll) ─▶ seek, read
 * batch ─▶ begin ─▶ output ─▶ {"next": 1001} as the last record of …-offsets ─▶ commit
 * </pre>
 *
 * restore=callback  all before "read" happens in onPartitionsAssigned: no poll meanwhile
 *         polling   partitions are paused, restored by another thread, and polled all the while
 * read=to_end       the last position is polled for until the end of the partition is reached
 *      one_poll     whatever one poll of poll_ms gives; nothing means that there is none
 * request_ms        request.timeout.ms of all clients
 * call_ms           max.block.ms of the producers, default.api.timeout.ms of the consumers
 * api_timeout_ms    handed to endOffsets; none: call_ms
 * consumer.*        properties of all consumers, word for word
 */
public class OwnOffsets implements ConsumerRebalanceListener {
    private static final Pattern NEXT = Pattern.compile("\"next\": (\\d+)");
    private static final Map<String, String> SETTINGS = new HashMap<>();
    private static final String CONSUMER = "consumer.";
    private static final String PRODUCER = "producer.";
    private static final int REACH = 2;
    private static final int GROWTH = 8;
    private static volatile boolean asked = false;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Map<Integer, Worker> workers = new HashMap<>();
    private final ExecutorService beside = Executors.newSingleThreadExecutor(OwnOffsets::daemon);
    private Future<List<Worker>> restoring = null;

    private OwnOffsets(KafkaConsumer<byte[], byte[]> consumer) {
        this.consumer = consumer;
    }

    public static void main(String[] arguments) throws Exception {
        for (String pair : arguments) {
            int equals = pair.indexOf('=');
            SETTINGS.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
        choice("restore", "callback", "polling");
        choice("read", "to_end", "one_poll");
        endWhenAsked(Thread.currentThread());
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(groupSettings())) {
            OwnOffsets all = new OwnOffsets(consumer);
            consumer.subscribe(List.of(given("INPUT_TOPIC")), all);
            say("started", "");
            while (!asked) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                all.resumeRestored();
                for (TopicPartition place : records.partitions()) {
                    all.write(place, records.records(place));
                }
            }
        }
        say("stopped", "");
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> places) {
        if (places.isEmpty()) {
            return;
        }
        List<Integer> partitions = places.stream().map(TopicPartition::partition).sorted().toList();
        if (setting("restore").equals("polling")) {
            consumer.pause(places);
            restoring = beside.submit(() -> start(partitions));
        } else {
            takeUp(start(partitions));
        }
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> places) {
        restoring = null; // what is being restored is no longer ours
        for (TopicPartition place : places) {
            Worker worker = workers.remove(place.partition());
            if (worker != null) {
                worker.producer.close(Duration.ZERO);
            }
        }
    }

    /** Those that have been restored beside the polls are read from where they stand. */
    private void resumeRestored() throws Exception {
        if (restoring != null && restoring.isDone()) {
            List<Worker> ready = restoring.get();
            restoring = null;
            takeUp(ready);
            consumer.resume(consumer.paused());
        }
    }

    private void takeUp(List<Worker> ready) {
        for (Worker worker : ready) {
            workers.put(worker.partition, worker);
            consumer.seek(new TopicPartition(given("INPUT_TOPIC"), worker.partition), worker.next);
        }
    }

    private void write(TopicPartition place, List<ConsumerRecord<byte[], byte[]>> records) {
        Worker worker = workers.get(place.partition());
        if (worker == null) {
            return;
        }
        try {
            worker.write(records);
            say("committed", ", \"records\": " + records.size());
        } catch (TimeoutException end) {
            note("nobody answered in time: " + end);
            throw end;
        } catch (KafkaException error) {
            note("refused: " + error);
            worker.producer.close(Duration.ZERO);
            takeUp(start(List.of(place.partition())));
        }
    }

    /** Fenced first: nothing of a predecessor can be committed while the position is read. */
    private static List<Worker> start(List<Integer> partitions) {
        long began = System.nanoTime();
        List<Worker> started = partitions.stream().map(Worker::new).toList();
        List<Long> ends = new ArrayList<>();
        ExecutorService atOnce =
                Executors.newFixedThreadPool(partitions.size(), OwnOffsets::daemon);
        try {
            for (Future<Long> end : atOnce.invokeAll(started)) {
                ends.add(end.get());
            }
        } catch (ExecutionException | InterruptedException problem) {
            throw new KafkaException("could not restore partitions " + partitions, problem);
        } finally {
            atOnce.shutdownNow();
        }
        sleep((long) (1000 * Double.parseDouble(setting("restore_s"))));
        long took = since(began);
        String beyond = took > pollIntervalMs() ? ", beyond max.poll.interval.ms" : "";
        note("restored partitions " + partitions + " in " + took + " ms" + beyond
                + "; their end offsets took " + ends + " ms");
        return started;
    }

    /** One input partition: its position, and the producer that may write for it. */
    private static class Worker implements Callable<Long> {
        final int partition;
        KafkaProducer<byte[], byte[]> producer;
        long next = 0;

        Worker(int partition) {
            this.partition = partition;
        }

        /** Fence, then restore. How many milliseconds the end offset took. */
        @Override
        public Long call() {
            producer = new KafkaProducer<>(producerSettings(partition));
            producer.initTransactions();
            return restore();
        }

        private long restore() {
            TopicPartition place = new TopicPartition(given("APP_ID") + "-offsets", partition);
            try (KafkaConsumer<byte[], byte[]> reader = new KafkaConsumer<>(consumerSettings())) {
                long began = System.nanoTime();
                long end = endOffset(reader, place);
                long took = since(began);
                reader.assign(List.of(place));
                byte[] last = setting("read").equals("one_poll")
                        ? onePoll(reader, place, end)
                        : toEnd(reader, place, end);
                Matcher found = NEXT.matcher(last == null ? "" : new String(last));
                next = found.find() ? Long.parseLong(found.group(1)) : 0;
                return took;
            }
        }

        void write(List<ConsumerRecord<byte[], byte[]>> records) {
            producer.beginTransaction();
            for (ConsumerRecord<byte[], byte[]> each : records) {
                sleep(Long.parseLong(setting("work_ms")));
                producer.send(
                        new ProducerRecord<>(given("OUTPUT_TOPIC"), each.key(), each.value()));
                next = each.offset() + 1;
            }
            byte[] position = ("{\"next\": " + next + "}").getBytes();
            String offsets = given("APP_ID") + "-offsets";
            producer.send(new ProducerRecord<>(offsets, partition, null, position));
            producer.commitTransaction();
        }
    }

    private static long endOffset(KafkaConsumer<byte[], byte[]> reader, TopicPartition place) {
        String timeout = setting("api_timeout_ms");
        Map<TopicPartition, Long> ends = timeout.isEmpty()
                ? reader.endOffsets(Set.of(place))
                : reader.endOffsets(Set.of(place), Duration.ofMillis(Long.parseLong(timeout)));
        return ends.get(place);
    }

    /** The last record stands before its transaction's marker: two before the end, it is hoped. */
    private static byte[] onePoll(
            KafkaConsumer<byte[], byte[]> reader, TopicPartition place, long end) {
        reader.seek(place, Math.max(0, end - REACH));
        byte[] last = null;
        for (ConsumerRecord<byte[], byte[]> each : reader.poll(pollTime()).records(place)) {
            last = each.value();
        }
        if (last == null && end > 0) {
            note("the poll after the seek gave nothing of " + place + ", whose end is " + end);
        }
        return last;
    }

    /** The end is where the position says so; where only aborted records were, begin earlier. */
    private static byte[] toEnd(
            KafkaConsumer<byte[], byte[]> reader, TopicPartition place, long end) {
        byte[] last = null;
        int empty = 0;
        for (long reach = REACH; last == null && reach / GROWTH < end; reach *= GROWTH) {
            reader.seek(place, Math.max(0, end - reach));
            while (reader.position(place) < end) {
                ConsumerRecords<byte[], byte[]> records = reader.poll(pollTime());
                empty += records.isEmpty() ? 1 : 0;
                for (ConsumerRecord<byte[], byte[]> each : records) {
                    last = each.value();
                }
            }
        }
        if (empty > 0) {
            note("polls that gave nothing of " + place + " before its end: " + empty);
        }
        return last;
    }

    private static long pollIntervalMs() {
        return Long.parseLong(SETTINGS.getOrDefault(CONSUMER + "max.poll.interval.ms", "300000"));
    }

    private static Duration pollTime() {
        return Duration.ofMillis(Long.parseLong(setting("poll_ms")));
    }

    private static Properties producerSettings(int partition) {
        Properties settings = connection();
        settings.put("transactional.id", given("APP_ID") + "-" + partition);
        settings.put("transaction.timeout.ms", given("TRANSACTION_TIMEOUT_MS"));
        settings.put("max.block.ms", setting("call_ms"));
        settings.put("request.timeout.ms", setting("request_ms"));
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
        addOwn(settings, PRODUCER);
        return settings;
    }

    private static Properties groupSettings() {
        Properties settings = consumerSettings();
        settings.put("group.id", given("APP_ID"));
        settings.putIfAbsent("session.timeout.ms", "3000");
        settings.putIfAbsent("heartbeat.interval.ms", "500");
        settings.putIfAbsent("max.poll.records", "25");
        return settings;
    }

    private static Properties consumerSettings() {
        Properties settings = connection();
        settings.put("isolation.level", "read_committed");
        settings.put("default.api.timeout.ms", setting("call_ms"));
        settings.put("request.timeout.ms", setting("request_ms"));
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        addOwn(settings, CONSUMER);
        return settings;
    }

    /** Those of the user's, by Kafka's names, have the last word. */
    private static void addOwn(Properties settings, String prefix) {
        SETTINGS.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                settings.put(name.substring(prefix.length()), value);
            }
        });
    }

    /** bootstrap_from=1: without the first address. */
    private static Properties connection() {
        List<String> servers = Arrays.asList(given("BOOTSTRAP_SERVERS").split(","));
        int from = Integer.parseInt(setting("bootstrap_from"));
        Properties settings = new Properties();
        settings.put("bootstrap.servers", String.join(",", servers.subList(from, servers.size())));
        return settings;
    }

    private static void endWhenAsked(Thread main) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            asked = true;
            try {
                main.join(30_000);
            } catch (InterruptedException ignored) {
                // The machine ends anyway.
            }
        }));
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException end) {
            throw new IllegalStateException(end);
        }
    }

    private static long since(long began) {
        return (System.nanoTime() - began) / 1_000_000;
    }

    private static void note(String text) {
        say("note", ", \"text\": \"" + text.replace('"', '\'').replace('\n', ' ') + "\"");
    }

    private static synchronized void say(String event, String facts) {
        System.out.println("{\"event\": \"" + event + "\"" + facts + "}");
    }

    private static void choice(String name, String... known) {
        if (!List.of(known).contains(setting(name))) {
            say("misconfigured", ", \"why\": \"--set " + name + " takes " + String.join(", ", known)
                    + "; got '" + setting(name) + "'\"");
            System.exit(1);
        }
    }

    private static String setting(String name) {
        return SETTINGS.get(name);
    }

    private static String given(String name) {
        return System.getenv("ONCEPROOF_" + name);
    }
}
