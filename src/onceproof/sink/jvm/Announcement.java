package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Runs on executors. Whether the manifest of a batch is committed, and the ledger's last word still.
 *
 * Asked after a lane is fenced: a driver that leads from then on fences it again. Who was fenced
 * before another lane has asked need not ask again. As everywhere in the sink the ledger is read up to
 * its high watermark, however long that takes: a commit is answered before its marker is written, and
 * a manifest that waits for its marker is a manifest.
 */
public final class Announcement {
    private static final Map LAST_SEEN = new HashMap(); // ledger → {manifest, when}

    private final String ledger;
    private final String manifest;
    private final long offset;
    private final TopicPartition place;
    private final long waitMs;

    public Announcement(String ledger, JsonNode told) {
        this.ledger = ledger;
        this.manifest = told.get("value").asText();
        this.offset = told.get("offset").asLong();
        this.place = new TopicPartition(ledger, told.get("partition").asInt());
        this.waitMs = told.get("wait_ms").asLong();
    }

    /** IllegalStateException if it is not. */
    public void require(Map settings, long fenced) {
        synchronized (LAST_SEEN) {
            Object[] seen = (Object[]) LAST_SEEN.get(ledger);
            if (seen != null && manifest.equals(seen[0]) && ((Long) seen[1]).longValue() - fenced > 0) {
                return;
            }
        }
        long asked = ask(settings);
        synchronized (LAST_SEEN) {
            LAST_SEEN.put(ledger, new Object[] {manifest, Long.valueOf(asked)});
        }
    }

    private long ask(Map settings) {
        Reader reader = Reader.borrow(settings);
        boolean isFine = false;
        try {
            reader.entries.assign(Collections.singletonList(place));
            reader.entries.seek(place, offset);
            long asked = lastWord(reader);
            isFine = true;
            return asked;
        } finally {
            Reader.giveBack(settings, reader, isFine);
        }
    }

    /** When it was seen to be. */
    private long lastWord(Reader reader) {
        long until = System.nanoTime() + waitMs * 1000000L;
        boolean isFound = false;
        while (System.nanoTime() < until) {
            long asked = System.nanoTime();
            long high = reader.highWatermark(place);
            do {
                isFound |= isAmong(reader.entries.poll(Duration.ofMillis(50)).iterator());
            } while (reader.entries.position(place) < high && System.nanoTime() < until);
            if (isFound && reader.entries.position(place) >= high) {
                return asked;
            }
        }
        throw new IllegalStateException("the manifest of this batch is not in the ledger");
    }

    /** Whether it is among them; IllegalStateException if anything else is. */
    private boolean isAmong(Iterator found) {
        byte[] expected = manifest.getBytes(StandardCharsets.UTF_8);
        boolean isFound = false;
        while (found.hasNext()) {
            ConsumerRecord record = (ConsumerRecord) found.next();
            if (record.offset() != offset || !Arrays.equals(expected, (byte[]) record.value())) {
                throw new IllegalStateException("the ledger has another manifest at " + record.offset()
                        + ", not this batch's at " + offset + ": another driver leads this sink now, or did");
            }
            isFound = true;
        }
        return isFound;
    }

    /** Two consumers of the ledger, one for each isolation level; kept from batch to batch, for a minute. */
    private static final class Reader {
        private static final long IDLE_MS = 60000L;
        private static final Map SHELVES = new HashMap(); // settings → those that are idle
        private static final Timer EXPIRY = new Timer("onceproof-sink-readers", true);

        final KafkaConsumer entries;
        private final KafkaConsumer marks;

        private Reader(Map settings) {
            entries = consumer(settings, "read_committed");
            marks = consumer(settings, "read_uncommitted");
        }

        private static KafkaConsumer consumer(Map settings, String isolation) {
            Map all = new HashMap(settings);
            all.put("isolation.level", isolation);
            return new KafkaConsumer(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        long highWatermark(TopicPartition place) {
            return ((Long) marks.endOffsets(Collections.singletonList(place)).get(place)).longValue();
        }

        static Reader borrow(Map settings) {
            synchronized (SHELVES) {
                ArrayDeque idle = (ArrayDeque) SHELVES.get(settings);
                if (idle != null && !idle.isEmpty()) {
                    return (Reader) idle.pop();
                }
            }
            return new Reader(settings);
        }

        static void giveBack(final Map settings, final Reader reader, boolean isFine) {
            if (!isFine) {
                reader.close();
                return;
            }
            synchronized (SHELVES) {
                ArrayDeque idle = (ArrayDeque) SHELVES.get(settings);
                if (idle == null) {
                    idle = new ArrayDeque();
                    SHELVES.put(settings, idle);
                }
                idle.push(reader);
            }
            EXPIRY.schedule(new TimerTask() {
                public void run() {
                    expire(settings, reader);
                }
            }, IDLE_MS);
        }

        /** Also one that was lent again meanwhile and is back: a new one is made in no time. */
        static void expire(Map settings, Reader reader) {
            boolean isOurs;
            synchronized (SHELVES) {
                ArrayDeque idle = (ArrayDeque) SHELVES.get(settings);
                isOurs = idle != null && idle.remove(reader);
            }
            if (isOurs) {
                reader.close();
            }
        }

        private void close() {
            try {
                entries.close(Duration.ZERO);
                marks.close(Duration.ZERO);
            } catch (Throwable problem) {
                // Nobody can do more about it; thrown in a timer it would end that.
            }
        }
    }
}
