package onceproof.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Runs on executors. A lane's producer, or a whole batch's, is made and fenced: now, or while Spark is between batches.
 *
 * <pre>
 *   batch b commits ─▶ begin: fences the lane ahead ─▶ batch b+1 takes it ─▶ begin …
 *                                  └─▶ nobody does, for a minute: closed
 * </pre>
 *
 * Ahead is as good as now: whoever comes in between fences us in turn, and our commit fails. To spare
 * us that, one made ahead is taken only if nobody has written the lane since, by all the driver knows.
 * One that comes too late fences somebody else: so who takes a lane waits until none is under way here.
 *
 * Ahead it is the last batch's producer again, with a new epoch (Renewal), or else a new one.
 */
public final class Fencing implements Runnable {
    private static final long START_AFTER_MS = 50; // until the last transaction's markers are written
    private static final long GIVE_UP_MS = 1000;
    private static final long UNUSED_MS = 60000;
    private static final Duration CLOSING = Duration.ofSeconds(5);
    private static final Map BEGUN = new HashMap(); // cluster and transactional id → what fences it
    private static final Map LEFT = new HashMap(); // the same → where its part of the ledger ended, last time here
    private static final Timer EXPIRY = new Timer("onceproof-sink-unused", true);

    private final Map settings;
    private final String generation; // of what the driver knows: another one's are of no use
    private final long end; // of the lane's part of the ledger, when it was begun
    private final Object token = new Object(); // what its expiry knows it by, and nothing else of it
    private final Thread thread = new Thread(this, "onceproof-sink-fencing");
    private KafkaProducer used; // the last batch's, until it is renewed
    private KafkaProducer producer; // as long as it is ours
    private long fenced;
    private boolean isUnwanted;

    /** A producer that is fenced, and when, by System.nanoTime(). */
    public static final class Fenced {
        public final KafkaProducer producer;
        public final long at;

        Fenced(KafkaProducer producer, long at) {
            this.producer = producer;
            this.at = at;
        }
    }

    private Fencing(Map settings, String generation, long end, KafkaProducer used) {
        this.used = used;
        this.settings = settings;
        this.generation = generation;
        this.end = end;
        thread.setDaemon(true);
    }

    /** Made ahead, or now. `settings` name the lane by its transactional id. */
    public static Fenced of(Map settings, String generation, long end) throws InterruptedException {
        Fenced ahead = takeAhead(settings, generation, end);
        return ahead != null ? ahead : fence(settings);
    }

    /**
     * For the next batch, by the producer that has committed this one; if it does not come about, that batch makes its
     * producer itself. Only for a lane that was written here twice running: one that moves about might be fenced here
     * while it is written elsewhere.
     */
    public static void begin(Map settings, String generation, long endBefore, long end, KafkaProducer used) {
        if (hasStayed(settings, endBefore, end)) {
            beginHere(settings, generation, end, used);
        } else {
            close(used, CLOSING);
        }
    }

    /** The same for what is never written elsewhere. */
    public static void beginHere(Map settings, String generation, long end, KafkaProducer used) {
        try {
            beginAhead(settings, generation, end, used);
        } catch (Throwable problem) { // no thread to be had: what is committed is not to fail of that
            close(used, CLOSING);
        }
    }

    private static boolean hasStayed(Map settings, long endBefore, long end) {
        synchronized (LEFT) {
            return Long.valueOf(endBefore).equals(LEFT.put(lane(settings), Long.valueOf(end)));
        }
    }

    private static void beginAhead(Map settings, String generation, long end, KafkaProducer used) {
        final String lane = lane(settings);
        Fencing begun = new Fencing(settings, generation, end, used);
        final Object token = begun.token;
        Fencing before;
        synchronized (BEGUN) {
            before = (Fencing) BEGUN.put(lane, begun);
        }
        if (before != null) {
            before.discard();
        }
        begun.thread.start();
        final Thread thread = begun.thread;
        EXPIRY.schedule(new TimerTask() {
            public void run() {
                thread.interrupt(); // one that takes so long might fence the next batch's, elsewhere
            }
        }, GIVE_UP_MS);
        EXPIRY.schedule(new TimerTask() {
            public void run() {
                expire(lane, token);
            }
        }, UNUSED_MS);
    }

    private static Fenced takeAhead(Map settings, String generation, long end) throws InterruptedException {
        Fencing found;
        synchronized (BEGUN) {
            found = (Fencing) BEGUN.get(lane(settings));
        }
        if (found == null) {
            return null;
        }
        found.thread.join(); // interrupted: it stays where it is, and expires
        synchronized (BEGUN) {
            if (BEGUN.get(lane(settings)) == found) {
                BEGUN.remove(lane(settings));
            }
        }
        return found.generation.equals(generation) && found.end == end ? found.handOver() : found.discard();
    }

    private static void expire(String lane, Object token) {
        Fencing found;
        synchronized (BEGUN) {
            found = (Fencing) BEGUN.get(lane);
            if (found == null || found.token != token) {
                return;
            }
            BEGUN.remove(lane);
        }
        found.discard();
    }

    private static String lane(Map settings) {
        return settings.get("bootstrap.servers") + " " + settings.get("transactional.id");
    }

    private static Fenced fence(Map settings) {
        KafkaProducer made = new KafkaProducer(settings, new ByteArraySerializer(), new ByteArraySerializer());
        try {
            made.initTransactions();
            return new Fenced(made, System.nanoTime());
        } catch (RuntimeException problem) {
            close(made, Duration.ZERO);
            throw problem;
        }
    }

    public void run() {
        try {
            Thread.sleep(START_AFTER_MS);
            synchronized (this) {
                if (isUnwanted) {
                    return;
                }
            }
            Fenced made = renewedOrNew();
            synchronized (this) {
                producer = made.producer;
                fenced = made.at;
                if (isUnwanted) {
                    discard();
                }
            }
        } catch (Throwable problem) {
            // Told when it happens again. Left to itself it would end the whole executor.
        } finally {
            if (used != null) {
                close(used, Duration.ZERO);
                used = null;
            }
        }
    }

    private Fenced renewedOrNew() {
        if (used != null) {
            try {
                Renewal.of(used);
                Fenced renewed = new Fenced(used, System.nanoTime());
                used = null;
                return renewed;
            } catch (Throwable unknown) {
                // Another client's insides, or a producer that is of no use: a new one will tell.
            }
        }
        return fence(settings);
    }

    private synchronized Fenced handOver() {
        Fenced made = producer == null ? null : new Fenced(producer, fenced);
        producer = null;
        return made;
    }

    /** Null, for who has nothing then. */
    private synchronized Fenced discard() {
        isUnwanted = true;
        if (producer != null) {
            close(producer, Duration.ZERO);
            producer = null;
        }
        return null;
    }

    static void close(KafkaProducer producer, Duration patience) {
        try {
            producer.close(patience);
        } catch (Throwable problem) {
            // Nobody can do more about it.
        }
    }
}
