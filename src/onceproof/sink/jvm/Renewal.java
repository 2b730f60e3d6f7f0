package onceproof.sink;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * Runs on executors. A producer that has committed fences its own id once more: a new epoch, by the same connections
 * and buffers.
 *
 * Its `initTransactions` may be called once. To its transaction manager nothing is known afterwards that it did not
 * know before the first call, but for the state, and where each partition's sequence goes on: both are set back here, as
 * Flink's connector does for its pool of producers. Whatever is not as in Kafka's clients 3.x and 4.x is refused before
 * anything is changed, and a new producer is made instead.
 */
final class Renewal {
    private Renewal() {
    }

    /** Throws where it cannot be done; the producer is of no use then. */
    static void of(KafkaProducer producer) throws Exception {
        Object manager = of(KafkaProducer.class, "transactionManager").get(producer);
        Field state = of(manager.getClass(), "currentState");
        Object sequences = of(manager.getClass(), "txnPartitionMap").get(manager);
        Method reset = sequences.getClass().getDeclaredMethod("reset", new Class[0]);
        reset.setAccessible(true);
        Object before = of(manager.getClass(), "producerIdAndEpoch").get(manager);
        synchronized (manager) {
            if (!state.get(manager).toString().equals("READY")) {
                throw new IllegalStateException("the producer is " + state.get(manager));
            }
            Object fresh = Enum.valueOf((Class) state.getType(), "UNINITIALIZED");
            reset.invoke(sequences, new Object[0]);
            state.set(manager, fresh);
        }
        producer.initTransactions();
        Object after = of(manager.getClass(), "producerIdAndEpoch").get(manager);
        if (after.equals(before)) {
            throw new IllegalStateException("still " + after);
        }
    }

    private static Field of(Class owner, String name) throws Exception {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
