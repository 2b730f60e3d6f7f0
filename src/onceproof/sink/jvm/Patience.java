package onceproof.sink;

import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * Runs on executors. Calls of a producer that may wait for ever, with an end to it: a producer whose own
 * thread has died never answers. Each is made by a thread apart; one that is not done is left behind.
 */
public final class Patience extends Thread {
    private final KafkaProducer producer;
    private final boolean isAbort;
    private volatile Throwable problem;

    private Patience(KafkaProducer producer, boolean isAbort) {
        super(isAbort ? "onceproof-sink-aborting" : "onceproof-sink-flushing");
        this.producer = producer;
        this.isAbort = isAbort;
        setDaemon(true);
    }

    /** Whether it was done in time; what it threw is thrown. */
    public static boolean flush(KafkaProducer producer, long waitMs) throws InterruptedException {
        Patience flushing = new Patience(producer, false);
        flushing.start();
        flushing.join(Math.max(1, waitMs));
        if (flushing.problem != null) {
            throw new IllegalStateException(flushing.problem);
        }
        return !flushing.isAlive();
    }

    /** If it is not done in time, the lane's next fence does it. */
    public static void abort(KafkaProducer producer, long waitMs) throws InterruptedException {
        Patience aborting = new Patience(producer, true);
        aborting.start();
        aborting.join(Math.max(1, waitMs));
    }

    public void run() {
        try {
            if (isAbort) {
                producer.abortTransaction();
            } else {
                producer.flush();
            }
        } catch (Throwable thrown) { // of an abort: there was none, or it is not ours to end any more
            problem = thrown;
        }
    }
}
