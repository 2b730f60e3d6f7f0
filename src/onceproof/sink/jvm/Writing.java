package onceproof.sink;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Runs on executors. One transaction, from the making of its producer to its commit; by one task or by
 * several at once.
 *
 * <pre>
 *   open (a thread of its own) ─▶ begin ─▶ take … ─▶ commit: the entry, does it lie in its place? ─▶ end
 * </pre>
 *
 * Whatever keeps it from its commit is its failure: told, not thrown, since Spark's rows are to be read to
 * their end in any case. An interrupted task is Spark's affair, and goes on as one.
 */
public final class Writing implements Callback, Runnable {
    private static final int CAUSES_MAX = 5;
    private static final long ASKED_EVERY_MS = 100;
    private static final long ABORTING_MS = 10000;
    private static final long ENDING_MS = 5000; // of what opens it

    private final Opener opener;
    private final Thread opening;
    private final long limitMs; // of the transaction
    private final long openingMs;

    private volatile KafkaProducer producer;
    private boolean isGivenUp; // before it was open
    private volatile Exception undelivered; // set by the producer's own thread
    private volatile Throwable failure;
    private volatile long began;
    private boolean isLate;
    private volatile boolean isCommitted;
    private double writeMs, commitMs;
    private long entryOffset = -1;

    /** Makes the producer, fences with it, and gives it to `own`. */
    public interface Opener {
        void open(Writing writing) throws Exception;
    }

    /** `openingMs`: what opening may take; what it asks of brokers is bounded, but not what a login asks of others. */
    public Writing(Opener opener, String name, long limitMs, long openingMs) {
        this.opener = opener;
        this.limitMs = limitMs;
        this.openingMs = openingMs;
        this.opening = new Thread(this, "onceproof-sink-opening-" + name);
        opening.setDaemon(true);
        opening.start();
    }

    public void run() {
        try {
            opener.open(this);
        } catch (Throwable problem) { // left to itself it would end the whole executor
            fail(problem); // unless the task has given up, and said why
        }
    }

    /** False: nobody waits for it any more, and it is closed. */
    public synchronized boolean own(KafkaProducer made) {
        if (isGivenUp) {
            Fencing.close(made, Duration.ZERO);
            return false;
        }
        producer = made;
        return true;
    }

    /** Spark cancels a job without a word to its tasks' threads: they have to ask. */
    public void await() throws InterruptedException {
        long asked = System.nanoTime();
        while (opening.isAlive() && since(asked) < openingMs) {
            opening.join(ASKED_EVERY_MS);
            TaskContext.get().killTaskIfInterrupted();
        }
        if (opening.isAlive()) {
            fail(new IllegalStateException("not open after " + openingMs + " ms"));
        }
    }

    /** Once, however many ask for it. */
    public synchronized void begin() {
        if (began != 0) {
            return;
        }
        began = System.nanoTime();
        if (failure != null) {
            return;
        }
        try {
            producer.beginTransaction();
        } catch (RuntimeException problem) {
            failed(problem);
        } catch (LinkageError problem) {
            fail(new IllegalStateException(problem));
        }
    }

    public void take(Rows rows, InternalRow row) {
        rows.read(row);
        stopIfLate();
        if (failure != null) {
            return;
        }
        try {
            producer.send(rows.record(), this);
        } catch (RuntimeException problem) {
            failed(problem);
        } catch (LinkageError problem) {
            fail(new IllegalStateException(problem));
        }
        failIfUndelivered();
    }

    /** With the entry that tells of it, if that lies at `place`: else somebody has written there since the driver looked. */
    public void commit(ProducerRecord entry, long place) throws InterruptedException {
        TaskContext.get().killTaskIfInterrupted();
        stopIfLate();
        if (failure != null) {
            return;
        }
        try {
            Future told = producer.send(entry);
            flush();
            failIfUndelivered();
            if (failure != null) {
                return;
            }
            entryOffset = ((RecordMetadata) told.get()).offset();
            requireItsPlace(entry, place);
            writeMs = since(began);
            long written = System.nanoTime();
            producer.commitTransaction();
            isCommitted = true;
            commitMs = since(written);
        } catch (RuntimeException problem) {
            failed(problem);
        } catch (LinkageError problem) {
            fail(new IllegalStateException(problem));
        } catch (ExecutionException problem) {
            fail(problem);
        }
    }

    private void flush() throws InterruptedException {
        if (!Patience.flush(producer, limitMs - (long) since(began))) {
            stopIfLate();
            fail(new IllegalStateException("not flushed in the transaction's time"));
        }
    }

    private void requireItsPlace(ProducerRecord entry, long place) {
        if (entryOffset != place) {
            throw new IllegalStateException("the entry lies at " + entryOffset + " of " + entry.topic() + "-"
                    + entry.partition() + "; expected " + place
                    + ": somebody else has written there since the driver looked");
        }
    }

    /**
     * Whatever happened, killed or not: what is not committed does not stay open here. The producer, if it is
     * committed: then it is the caller's.
     */
    public KafkaProducer end() {
        boolean wasInterrupted = Thread.interrupted(); // or the abort would not even be sent
        long asked = System.nanoTime();
        while (opening.isAlive() && since(asked) < ENDING_MS) {
            opening.interrupt();
            try {
                opening.join(ASKED_EVERY_MS);
            } catch (InterruptedException again) {
                wasInterrupted = true;
            }
        }
        giveUp();
        KafkaProducer used = producer;
        producer = null; // its buffers are not to live as long as this
        if (used != null && !isCommitted) {
            wasInterrupted |= abandon(used);
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        return isCommitted ? used : null;
    }

    private synchronized void giveUp() {
        isGivenUp = true;
    }

    /** Whether it was interrupted meanwhile. */
    private static boolean abandon(KafkaProducer used) {
        boolean wasInterrupted = false;
        try {
            Patience.abort(used, ABORTING_MS);
        } catch (InterruptedException again) {
            wasInterrupted = true;
        }
        Fencing.close(used, Duration.ZERO);
        return wasInterrupted;
    }

    /** A transaction that outlasts its timeout is aborted by the brokers, whatever we do. */
    private void stopIfLate() {
        if (failure == null && isOverTime()) {
            failed(new IllegalStateException("late"));
        }
    }

    private boolean isOverTime() {
        return began != 0 && since(began) >= limitMs;
    }

    private void failIfUndelivered() {
        if (undelivered != null) {
            fail(undelivered);
        }
    }

    private void failed(RuntimeException problem) {
        if (problem instanceof InterruptException) {
            throw problem;
        }
        fail(problem);
    }

    /** Whatever fails when it is late fails of that: brokers fence who is. Who got no answer says of what. */
    public synchronized void fail(Throwable problem) {
        if (failure == null) {
            isLate = isOverTime() && !(problem instanceof TimeoutException);
            failure = problem;
        }
    }

    public void onCompletion(RecordMetadata metadata, Exception problem) {
        if (problem != null && undelivered == null) {
            undelivered = problem;
        }
    }

    public boolean isCommitted() {
        return isCommitted;
    }

    public boolean hasFailed() {
        return failure != null;
    }

    public String state() {
        return failure == null ? "committed" : isLate ? "outlasted" : "failed";
    }

    /** What it failed of, each with what caused it: a producer that could not be made says why only there. */
    public String detail() {
        if (failure == null) {
            return "";
        }
        StringBuilder text = new StringBuilder(String.valueOf(failure));
        Throwable cause = failure.getCause();
        for (int depth = 0; cause != null && depth < CAUSES_MAX; depth++) {
            text.append("; caused by ").append(cause);
            cause = cause.getCause();
        }
        return text.toString();
    }

    public double writeMs() {
        return isLate ? since(began) : writeMs;
    }

    public double commitMs() {
        return commitMs;
    }

    /** Where the entry lies; -1: nowhere. */
    public long entryOffset() {
        return entryOffset;
    }

    public static double since(long began) {
        return (System.nanoTime() - began) / 1e6;
    }
}
