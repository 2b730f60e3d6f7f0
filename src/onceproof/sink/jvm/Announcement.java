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
 * before another lane has asked need not ask again.
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
        KafkaConsumer reader = Readers.borrow(settings);
        boolean isFine = false;
        try {
            reader.assign(Collections.singletonList(place));
            reader.seek(place, offset);
            long asked = lastWord(reader);
            isFine = true;
            return asked;
        } finally {
            Readers.giveBack(settings, reader, isFine);
        }
    }

    /** When it was seen to be. */
    private long lastWord(KafkaConsumer reader) {
        long until = System.nanoTime() + waitMs * 1000000L;
        boolean isFound = false;
        while (System.nanoTime() < until) {
            Iterator found = reader.poll(Duration.ofMillis(100)).iterator();
            while (found.hasNext()) {
                requireOurs((ConsumerRecord) found.next());
                isFound = true;
            }
            long now = System.nanoTime();
            // Its marker lies behind it; what comes after that is somebody else's.
            if (isFound && reader.position(place) >= stableEnd(reader)) {
                return now;
            }
        }
        throw new IllegalStateException("the manifest of this batch is not in the ledger");
    }

    private void requireOurs(ConsumerRecord record) {
        byte[] expected = manifest.getBytes(StandardCharsets.UTF_8);
        if (record.offset() != offset || !Arrays.equals(expected, (byte[]) record.value())) {
            throw new IllegalStateException("the ledger has another manifest at " + record.offset()
                    + ", not this batch's at " + offset + ": another driver leads this sink now, or did");
        }
    }

    private long stableEnd(KafkaConsumer reader) {
        return ((Long) reader.endOffsets(Collections.singletonList(place)).get(place)).longValue();
    }

    /** Consumers of the ledger are kept from batch to batch, for a minute. */
    private static final class Readers {
        private static final long IDLE_MS = 60000L;
        private static final Map SHELVES = new HashMap(); // settings → those that are idle
        private static final Timer EXPIRY = new Timer("onceproof-sink-readers", true);

        static KafkaConsumer borrow(Map settings) {
            synchronized (SHELVES) {
                ArrayDeque idle = (ArrayDeque) SHELVES.get(settings);
                if (idle != null && !idle.isEmpty()) {
                    return (KafkaConsumer) idle.pop();
                }
            }
            return new KafkaConsumer(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        static void giveBack(final Map settings, final KafkaConsumer reader, boolean isFine) {
            if (!isFine) {
                reader.close(Duration.ZERO);
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
        static void expire(Map settings, KafkaConsumer reader) {
            boolean isOurs;
            synchronized (SHELVES) {
                ArrayDeque idle = (ArrayDeque) SHELVES.get(settings);
                isOurs = idle != null && idle.remove(reader);
            }
            if (isOurs) {
                reader.close(Duration.ZERO);
            }
        }
    }
}
