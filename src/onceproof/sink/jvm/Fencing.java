package onceproof.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Runs on executors. A lane's producer is made and fenced: now, or while Spark is between batches.
 *
 * <pre>
 *   batch b commits ─▶ begin: fences the lane ahead ─▶ batch b+1 takes it ─▶ begin …
 *                                  └─▶ nobody does, for a minute: closed
 * </pre>
 *
 * Ahead is as good as now: whoever comes in between fences us in turn, and our commit fails. But one
 * that comes too late fences somebody else: so who takes a lane waits until none is under way here.
 */
public final class Fencing extends Thread {
    private static final long START_AFTER_MS = 50; // until the last transaction's markers are written
    private static final long UNUSED_MS = 60000;
    private static final Map BEGUN = new HashMap(); // transactional id → the one that fences it
    private static final Timer EXPIRY = new Timer("onceproof-sink-unused", true);

    public KafkaProducer producer; // null: it did not come about
    public long fenced; // when, by System.nanoTime()
    private final String generation; // of what the driver knows: another one's are of no use
    private final Map settings;

    private Fencing(String generation, Map settings) {
        super("onceproof-sink-fencing");
        setDaemon(true);
        this.generation = generation;
        this.settings = settings;
    }

    /** Made ahead, or now. `settings` name the lane by its transactional id. */
    public static Fencing of(String generation, Map settings) throws InterruptedException {
        Fencing ahead = take(generation, (String) settings.get("transactional.id"));
        if (ahead != null) {
            return ahead;
        }
        Fencing now = new Fencing(generation, settings);
        try {
            now.fence();
        } catch (RuntimeException problem) {
            now.discard();
            throw problem;
        }
        return now;
    }

    /** For the next batch. */
    public static void begin(String generation, Map settings) {
        final String id = (String) settings.get("transactional.id");
        final Fencing begun = new Fencing(generation, settings);
        synchronized (BEGUN) {
            BEGUN.put(id, begun);
        }
        begun.start();
        EXPIRY.schedule(new TimerTask() {
            public void run() {
                expire(id, begun);
            }
        }, UNUSED_MS);
    }

    private static void expire(String id, Fencing begun) {
        synchronized (BEGUN) {
            if (BEGUN.get(id) != begun) {
                return;
            }
            BEGUN.remove(id);
        }
        begun.discard();
    }

    private static Fencing take(String generation, String id) throws InterruptedException {
        Fencing found;
        synchronized (BEGUN) {
            found = (Fencing) BEGUN.remove(id);
        }
        if (found == null) {
            return null;
        }
        found.join();
        if (!found.generation.equals(generation)) {
            found.discard();
        }
        return found.producer == null ? null : found;
    }

    public void run() {
        try {
            Thread.sleep(START_AFTER_MS);
            fence();
        } catch (Exception problem) { // told when it happens again
            discard();
        }
    }

    private void fence() {
        producer = new KafkaProducer(settings, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        fenced = System.nanoTime();
    }

    private void discard() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            producer = null;
        }
    }
}
