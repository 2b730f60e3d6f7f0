package onceproof.sink;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Runs on executors. What rows come to, whatever their order: each is hashed, and its hash is added up in two ways.
 *
 * The hash is that of Spark's function xxhash64 over the expression in cut.py (hash_expression), to the bit, and the
 * sums are those of digest.py: what is written here may be compared there. By hand, as the expression would have Spark
 * copy each row once more.
 */
public final class Digest {
    private static final long SEED = 42; // Spark's
    private static final int NO_COLUMN = 1;

    private final long start; // with a topic that is the same for all rows
    private final boolean isOneTopic;
    private long hash; // of the row at hand
    private long sum, mixedSum;

    public Digest(String topic) {
        hash = SEED;
        isOneTopic = topic != null;
        if (isOneTopic) {
            bytes(topic.getBytes(StandardCharsets.UTF_8));
        }
        start = hash;
    }

    /** A row. Null stands for a column that is not there, too: both are told apart from what is empty. */
    public void add(UTF8String topic, Integer partition, byte[] key, byte[] value, ArrayData headers) {
        hash = start;
        if (!isOneTopic) {
            bytes(topic == null ? null : topic.getBytes());
        }
        if (partition == null) {
            number(NO_COLUMN);
        } else {
            number(0);
            number(partition.intValue());
        }
        bytes(key);
        bytes(value);
        headers(headers);
        sum += hash;
        mixedSum += mixed(hash);
    }

    public void add(Digest others) {
        sum += others.sum;
        mixedSum += others.mixedSum;
    }

    /** Whether it is null is said apart: Spark's hash passes over nulls. */
    private void bytes(byte[] content) {
        number(content == null ? NO_COLUMN : 0);
        if (content != null) {
            add(content);
        }
    }

    private void headers(ArrayData headers) {
        int size = headers == null ? 0 : headers.numElements();
        number(size);
        for (int i = 0; i < size; i++) {
            InternalRow header = headers.getStruct(i, 2);
            if (!header.isNullAt(0)) {
                add(header.getUTF8String(0).getBytes());
            }
            bytes(header.isNullAt(1) ? null : header.getBinary(1));
        }
    }

    private void number(int number) {
        hash = XXH64.hashInt(number, hash);
    }

    private void add(byte[] content) {
        hash = XXH64.hashUnsafeBytes(content, Platform.BYTE_ARRAY_OFFSET, content.length, hash);
    }

    /** As `mixed` of digest.py. */
    private static long mixed(long given) {
        long z = given;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    public String toString() {
        return String.format("%016x%016x", new Object[] {Long.valueOf(sum), Long.valueOf(mixedSum)});
    }
}
