package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Runs on executors. Rows as Spark has them, made Kafka's records, and what all of them come to.
 *
 * Read by one task, row by row: `read`, and then `record` if it is to be written.
 */
public final class Rows {
    private static final int ANY = -1; // partition, as librdkafka says it
    private static final char REPLACED = 0xFFFD;
    private static final int ROW_BYTES = 32; // what Arrow takes for a row besides key and value

    private final int lane; // of the task: what rows say that say so
    private final String topic; // for all rows; null: a column's
    private final int topicAt, partitionAt, keyAt, valueAt, headersAt, laneAt;
    private final boolean isKeyText, isValueText;
    private final Digest digest;
    private final Bytes keys, values;

    // Of the row at hand.
    private byte[] key, value;
    private UTF8String topicText;
    private Integer partition;
    private ArrayData headers;
    private long count, size;

    public Rows(JsonNode told, int lane) {
        JsonNode columns = told.get("columns");
        this.lane = lane;
        this.topic = told.get("topic").isNull() ? null : told.get("topic").asText();
        this.topicAt = topic != null ? -1 : place(columns, "topic");
        this.partitionAt = place(columns, "partition");
        this.keyAt = place(columns, "key");
        this.valueAt = place(columns, "value");
        this.headersAt = place(columns, "headers");
        this.laneAt = place(columns, "__lane");
        this.isKeyText = isText(columns, "key");
        this.isValueText = isText(columns, "value");
        this.digest = new Digest(topic);
        boolean areKept = told.get("producer").has("interceptor.classes"); // the user's own
        this.keys = new Bytes(areKept);
        this.values = new Bytes(areKept);
    }

    private static int place(JsonNode columns, String name) {
        JsonNode column = columns.get(name);
        return column == null || column.get("kind").asText().equals("void") ? -1 : column.get("at").asInt();
    }

    private static boolean isText(JsonNode columns, String name) {
        JsonNode column = columns.get(name);
        return column != null && column.get("kind").asText().equals("string");
    }

    /** Each row, whether it is written or not. */
    public void read(InternalRow row) {
        if (laneAt >= 0 && row.getInt(laneAt) != lane) {
            throw new IllegalStateException("a row of lane " + row.getInt(laneAt) + " came to the task of lane " + lane);
        }
        topicText = topicAt < 0 || row.isNullAt(topicAt) ? null : row.getUTF8String(topicAt);
        partition = partitionAt < 0 || row.isNullAt(partitionAt) ? null : Integer.valueOf(row.getInt(partitionAt));
        key = keyAt < 0 || row.isNullAt(keyAt) ? null : keys.of(row, keyAt, isKeyText);
        value = valueAt < 0 || row.isNullAt(valueAt) ? null : values.of(row, valueAt, isValueText);
        headers = headersAt < 0 || row.isNullAt(headersAt) ? null : row.getArray(headersAt);
        digest.add(topicText, partition, key, value, headers);
        count += 1;
    }

    /** Of the row that was read last. Its bytes are those of a later row as soon as that is read. */
    public ProducerRecord record() {
        String to = topic != null ? topic : topicText == null ? null : text(topicText);
        if (to == null) {
            throw new IllegalArgumentException("a row has no topic, and the sink was given none");
        }
        Integer at = partition == null || partition.intValue() == ANY ? null : partition;
        size += ROW_BYTES + (key == null ? 0 : key.length) + (value == null ? 0 : value.length);
        ProducerRecord record = new ProducerRecord(to, at, null, key, value, null);
        if (headers != null) {
            addHeaders(record);
        }
        return record;
    }

    private void addHeaders(ProducerRecord record) {
        for (int i = 0; i < headers.numElements(); i++) {
            InternalRow header = headers.getStruct(i, 2);
            byte[] content = header.isNullAt(1) ? null : header.getBinary(1);
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

    /** What others have read. */
    public void add(Rows others) {
        digest.add(others.digest);
        count += others.count;
        size += others.size;
    }

    public long count() {
        return count;
    }

    /** Of what was made a record. */
    public long size() {
        return size;
    }

    public String digest() {
        return digest.toString();
    }
}
