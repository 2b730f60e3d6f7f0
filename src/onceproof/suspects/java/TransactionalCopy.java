import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Exactly once as Kafka's own documentation has it: output and offsets in one transaction. */
public class TransactionalCopy {
    private static volatile boolean asked = false;

    public static void main(String[] arguments) throws Exception {
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            asked = true;
            try {
                main.join(30_000);
            } catch (InterruptedException ignored) {
                // The machine ends anyway.
            }
        }));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producerSettings());
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(consumerSettings())) {
            producer.initTransactions();
            consumer.subscribe(List.of(given("INPUT_TOPIC")));
            System.out.println("{\"event\": \"started\"}");
            while (!asked) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                if (!records.isEmpty()) {
                    copy(producer, consumer, records);
                }
            }
        }
        System.out.println("{\"event\": \"stopped\"}");
    }

    private static void copy(
            KafkaProducer<byte[], byte[]> producer,
            KafkaConsumer<byte[], byte[]> consumer,
            ConsumerRecords<byte[], byte[]> records) {
        try {
            producer.beginTransaction();
            Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
            for (ConsumerRecord<byte[], byte[]> each : records) {
                producer.send(new ProducerRecord<>(given("OUTPUT_TOPIC"), each.key(), each.value()));
                positions.put(
                        new TopicPartition(each.topic(), each.partition()),
                        new OffsetAndMetadata(each.offset() + 1));
            }
            producer.flush();
            producer.sendOffsetsToTransaction(positions, consumer.groupMetadata());
            producer.commitTransaction();
            System.out.println("{\"event\": \"committed\", \"records\": " + records.count() + "}");
        } catch (ProducerFencedException | OutOfOrderSequenceException | AuthorizationException end) {
            throw end;
        } catch (KafkaException abortable) {
            System.out.println("aborted: " + abortable);
            producer.abortTransaction();
            seekBack(consumer);
        }
    }

    /** To what is committed: the records of an aborted transaction are read again. */
    private static void seekBack(KafkaConsumer<byte[], byte[]> consumer) {
        consumer.committed(consumer.assignment()).forEach((partition, position) ->
                consumer.seek(partition, position == null ? 0 : position.offset()));
    }

    private static Properties producerSettings() {
        Properties settings = connection();
        settings.put("transactional.id", given("APP_ID") + "-" + given("INSTANCE"));
        settings.put("transaction.timeout.ms", given("TRANSACTION_TIMEOUT_MS"));
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
        return settings;
    }

    private static Properties consumerSettings() {
        Properties settings = connection();
        settings.put("group.id", given("APP_ID"));
        settings.put("isolation.level", "read_committed");
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        settings.put("session.timeout.ms", "3000");
        settings.put("heartbeat.interval.ms", "500");
        settings.put("max.poll.records", "25");
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        return settings;
    }

    private static Properties connection() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", given("BOOTSTRAP_SERVERS"));
        return settings;
    }

    private static String given(String name) {
        return System.getenv("ONCEPROOF_" + name);
    }
}
