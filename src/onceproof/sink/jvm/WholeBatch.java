package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Runs where all of Spark's tasks share one JVM: one batch, whole, in one transaction of the driver's id.
 *
 * <pre>
 *   task 0 ─rows─┐                       all partitions are read, each once, to its end:
 *   task 1 ─rows─┼─▶ one producer ─▶ the task that is done last writes the manifest. Does it lie where
 *   task 2 ─rows─┘   (Fencing)           the ledger ended by what the driver knows? ─▶ commit
 * </pre>
 *
 * Nobody waits for brokers but that last task. A task that breaks off fails the batch for all of them.
 */
public final class WholeBatch implements Writing.Opener {
    private static final int MARKER = 1; // the record that ends a transaction lies behind the manifest
    private static final long FORGOTTEN_MS = 60000; // nobody comes any more, or all have been here
    private static final Map BATCHES = new HashMap(); // announcement → batch
    private static final Timer EXPIRY = new Timer("onceproof-sink-batches", true);

    private final JsonNode told;
    private final Writing writing;
    private final Rows all;
    private final Set begun = new HashSet(); // partitions
    private int active, done;
    private boolean isEnded;
    private volatile double fenceMs;

    private WholeBatch(JsonNode told) {
        this.told = told;
        this.all = new Rows(told, -1);
        long limitMs = told.get("transaction_timeout_ms").asLong();
        this.writing = new Writing(this, "batch", limitMs, 2 * limitMs);
    }

    /** The one that all tasks of an announcement share. */
    public static WholeBatch of(JsonNode told) {
        String name = told.get("announcement").asText();
        synchronized (BATCHES) {
            WholeBatch found = (WholeBatch) BATCHES.get(name);
            if (found == null) {
                found = new WholeBatch(told);
                BATCHES.put(name, found);
                expireLater(name, found);
            }
            return found;
        }
    }

    /** A job may be cancelled while none of its tasks runs: then nobody else would end it. */
    private static void expireLater(final String name, final WholeBatch batch) {
        EXPIRY.schedule(new TimerTask() {
            public void run() {
                try {
                    batch.expire(name);
                } catch (Throwable problem) {
                    // Nobody can do more about it; thrown in a timer it would end that.
                }
            }
        }, FORGOTTEN_MS);
    }

    /** Failed first, if it was left, and forgotten a period later: one who comes late is to find out. */
    private void expire(String name) {
        boolean isForgotten = isIdle() && isEnded();
        if (isForgotten) {
            synchronized (BATCHES) {
                BATCHES.remove(name);
            }
            return;
        }
        if (isIdle()) {
            writing.fail(new IllegalStateException("none of its tasks ran for a while"));
            endIfOver();
        }
        expireLater(name, this);
    }

    private synchronized boolean isEnded() {
        return isEnded;
    }

    public void open(Writing opened) throws Exception {
        long began = System.nanoTime();
        opened.own(Fencing.of(settings(), generation(), place()).producer);
        fenceMs = Writing.since(began);
    }

    public String carryOut(int partition, Iterator source) throws Exception {
        Rows rows = new Rows(told, partition);
        enter(partition);
        boolean isDone = false, isLast = false;
        try {
            boolean isAny = source.hasNext(); // computes the first rows while the producer is made
            if (isAny) {
                writing.await();
                writing.begin();
            }
            while (isAny) {
                writing.take(rows, (InternalRow) source.next());
                isAny = source.hasNext();
            }
            isLast = isLast(rows);
            if (isLast) {
                writing.await();
                writing.begin();
                writing.commit(Told.entry(told.get("ledger").asText(), told.get("manifest"), all), place());
            }
            isDone = true;
        } finally {
            leave(isDone);
        }
        return isLast || writing.hasFailed() ? report(partition, all, writing.state()) : report(partition, rows, "measured");
    }

    private synchronized void enter(int partition) {
        active += 1;
        if (!begun.add(Integer.valueOf(partition))) {
            writing.fail(new IllegalStateException("partition " + partition + " came twice"));
        }
    }

    private synchronized boolean isLast(Rows rows) {
        all.add(rows);
        done += 1;
        return done == told.get("partitions").asInt();
    }

    private void leave(boolean isDone) {
        synchronized (this) {
            active -= 1;
        }
        if (!isDone) {
            writing.fail(new IllegalStateException("a task of the batch broke off"));
        }
        endIfOver();
    }

    private synchronized boolean isIdle() {
        return active == 0;
    }

    private void endIfOver() {
        synchronized (this) {
            boolean isOver = writing.isCommitted() || writing.hasFailed();
            if (isEnded || active > 0 || !isOver) {
                return;
            }
            isEnded = true;
        }
        KafkaProducer committed = writing.end();
        if (committed != null) {
            long next = writing.entryOffset() + 1 + MARKER;
            Fencing.beginHere(settings(), generation(), next, committed);
        }
    }

    private String generation() {
        return told.get("generation").asText();
    }

    private long place() {
        return told.get("manifest").get("end").asLong();
    }

    private Map settings() {
        Map settings = Told.map(told.get("producer"));
        settings.put("transactional.id", told.get("transactional_id").asText());
        Memory.bound(settings, 1);
        return settings;
    }

    /** The last task's is the batch's. */
    private String report(int partition, Rows rows, String state) {
        ObjectNode report = Told.report(writing, rows);
        report.put("state", state);
        report.put("partition", partition);
        report.putNull("lane");
        report.put("fence_ms", fenceMs);
        return report.toString();
    }
}
