package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Runs on executors. A lane's rows as Kafka's records, and what all of them come to. */
public final class Rows {
    private static final int ANY = -1; // partition, as librdkafka says it
    private static final char REPLACED = 0xFFFD;
    private static final int ROW_BYTES = 32; // what Arrow takes for a row besides key and value

    private final JsonNode columns;
    private final int partition; // of the lane's task
    private final String topic;
    private final int topicAt, partitionAt, keyAt, valueAt, headersAt, firstHashAt, secondHashAt, laneAt;
    private long count, size, firstSum, secondSum;

    public Rows(JsonNode told, int partition) {
        this.columns = told.get("columns");
        this.partition = partition;
        this.topic = told.get("topic").isNull() ? null : told.get("topic").asText();
        this.topicAt = column("topic");
        this.partitionAt = column("partition");
        this.keyAt = column("key");
        this.valueAt = column("value");
        this.headersAt = column("headers");
        this.firstHashAt = column("__hash_1");
        this.secondHashAt = column("__hash_2");
        this.laneAt = column("__lane");
    }

    private int column(String name) {
        JsonNode place = columns.get(name);
        return place == null ? -1 : place.asInt();
    }

    /** Each row, whether it is written or not. */
    public void count(InternalRow row) {
        firstSum += row.getLong(firstHashAt);
        secondSum += row.getLong(secondHashAt);
        count += 1;
        if (laneAt >= 0 && row.getInt(laneAt) != partition) {
            throw new IllegalStateException("a row of lane " + row.getInt(laneAt)
                    + " came to the task of lane " + partition);
        }
    }

    public ProducerRecord recordOf(InternalRow row) {
        byte[] value = bytesAt(row, valueAt);
        byte[] key = bytesAt(row, keyAt);
        String to = topic != null ? topic : row.isNullAt(topicAt) ? null : text(row.getUTF8String(topicAt));
        if (to == null) {
            throw new IllegalArgumentException("a row has no topic, and the sink was given none");
        }
        Integer at = partitionAt < 0 || row.isNullAt(partitionAt) || row.getInt(partitionAt) == ANY
                ? null : Integer.valueOf(row.getInt(partitionAt));
        size += ROW_BYTES + (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        ProducerRecord record = new ProducerRecord(to, at, null, key, value, null);
        if (headersAt >= 0 && !row.isNullAt(headersAt)) {
            addHeaders(record, row.getArray(headersAt));
        }
        return record;
    }

    private void addHeaders(ProducerRecord record, ArrayData headers) {
        for (int i = 0; i < headers.numElements(); i++) {
            InternalRow header = headers.getStruct(i, 2);
            byte[] content = bytesAt(header, 1);
            record.headers().add(new RecordHeader(text(header.getUTF8String(0)), content));
            size += content == null ? 0 : content.length;
        }
    }

    /** Java would quietly write other bytes for what is no text. */
    private static String text(UTF8String given) {
        String text = given.toString();
        if (text.indexOf(REPLACED) >= 0 && !UTF8String.fromString(text).equals(given)) {
            throw new IllegalArgumentException("a topic or a header's name is not UTF-8: " + text);
        }
        return text;
    }

    private static byte[] bytesAt(InternalRow row, int place) {
        return place < 0 || row.isNullAt(place) ? null : row.getBinary(place);
    }

    public long count() {
        return count;
    }

    /** Of what was made a record. */
    public long size() {
        return size;
    }

    /** As digest.py adds it up: whatever the order. */
    public String digest() {
        return String.format("%016x%016x", new Object[] {Long.valueOf(firstSum), Long.valueOf(secondSum)});
    }
}
