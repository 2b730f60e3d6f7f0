package onceproof.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.Metric;

/**
 * Runs on executors. A producer that has committed, for the next transaction of its id: it fences nobody anew,
 * connects to nobody anew, and its buffers are there.
 *
 * A delayed EndTxn of its last transaction could end the next one (KAFKA-17754), as their epoch is the same. There
 * is one only where a connection was given up while an answer was waited for: so a producer that ever lost a
 * connection is not kept.
 */
public final class Kept {
    private static final long UNUSED_MS = 60000;
    private static final Duration CLOSING = Duration.ofSeconds(5);
    private static final String LOST = "connection-close-total";
    private static final Map KEPT = new HashMap(); // cluster and transactional id → what is kept
    private static final Timer EXPIRY = new Timer("onceproof-sink-kept", true);

    private final KafkaProducer producer;
    private final String generation; // of what the driver knows: another one's are of no use
    private final long end; // of the ledger's part, when it had committed

    private Kept(KafkaProducer producer, String generation, long end) {
        this.producer = producer;
        this.generation = generation;
        this.end = end;
    }

    /** Null: none that fits. */
    public static KafkaProducer take(Map settings, String generation, long end) {
        Kept found;
        synchronized (KEPT) {
            found = (Kept) KEPT.remove(Fencing.lane(settings));
        }
        if (found == null) {
            return null;
        }
        if (found.generation.equals(generation) && found.end == end) {
            return found.producer;
        }
        Fencing.close(found.producer, Duration.ZERO);
        return null;
    }

    /** For who commits next, or closed: now, or when nobody has come for a minute. */
    public static void keep(Map settings, String generation, long end, KafkaProducer producer) {
        if (!hasNeverLostAConnection(producer)) {
            Fencing.close(producer, CLOSING);
            return;
        }
        final String lane = Fencing.lane(settings);
        final Kept kept = new Kept(producer, generation, end);
        Kept before;
        synchronized (KEPT) {
            before = (Kept) KEPT.put(lane, kept);
        }
        if (before != null) {
            Fencing.close(before.producer, Duration.ZERO);
        }
        EXPIRY.schedule(new TimerTask() {
            public void run() {
                expire(lane, kept);
            }
        }, UNUSED_MS);
    }

    private static void expire(String lane, Kept kept) {
        synchronized (KEPT) {
            if (KEPT.get(lane) != kept) {
                return;
            }
            KEPT.remove(lane);
        }
        Fencing.close(kept.producer, Duration.ZERO);
    }

    private static boolean hasNeverLostAConnection(KafkaProducer producer) {
        boolean isKnown = false;
        Iterator metrics = producer.metrics().values().iterator();
        while (metrics.hasNext()) {
            Metric metric = (Metric) metrics.next();
            if (LOST.equals(metric.metricName().name())) {
                if (!Double.valueOf(0).equals(metric.metricValue())) {
                    return false;
                }
                isKnown = true;
            }
        }
        return isKnown;
    }
}
