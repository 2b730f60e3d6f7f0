package onceproof.sink;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.config.Configurator;

/**
 * Runs on executors. At INFO each producer says what it is made of, in a hundred lines, and one is
 * made for each lane of each batch. By Log4j 2, as Spark has it; who asked for DEBUG still gets it.
 */
public final class Talkative {
    private static final String[] ONES = {
        "org.apache.kafka.clients.producer.ProducerConfig",
        "org.apache.kafka.clients.producer.KafkaProducer",
        "org.apache.kafka.clients.producer.internals.TransactionManager",
        "org.apache.kafka.clients.Metadata",
        "org.apache.kafka.common.utils.AppInfoParser",
        "org.apache.kafka.common.metrics.Metrics",
    };

    private Talkative() {
    }

    public static void quiet() {
        try {
            for (int i = 0; i < ONES.length; i++) {
                if (LogManager.getLogger(ONES[i]).getLevel() == Level.INFO) {
                    Configurator.setLevel(ONES[i], Level.WARN);
                }
            }
        } catch (Throwable absent) {
            // Another log binding: then they talk.
        }
    }
}
