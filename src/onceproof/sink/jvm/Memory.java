package onceproof.sink;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** Runs on executors. How much a producer may hold: all that write here at once, an eighth of the heap. */
public final class Memory {
    private static final Pattern LOCAL = Pattern.compile("local\\[(\\d+|\\*)");
    private static final int HEAP_SHARE = 8;
    private static final int BATCHES_MIN = 4; // one for each of a few partitions
    private static final long BYTES_MIN = 8L << 20;
    private static final long BYTES_MAX = 64L << 20;

    private Memory() {
    }

    /** Unless the user has said how much. `writers`: producers that write here at once. */
    public static void bound(Map settings, int writers) {
        if (!settings.containsKey("buffer.memory")) {
            long share = Math.min(Runtime.getRuntime().maxMemory() / HEAP_SHARE / writers, BYTES_MAX);
            long batch = Long.parseLong((String) settings.getOrDefault("batch.size", "0"));
            long bytes = Math.max(share, Math.max(BYTES_MIN, BATCHES_MIN * batch));
            settings.put("buffer.memory", String.valueOf(bytes));
        }
    }

    /** How many tasks Spark runs in this JVM at once. */
    public static int slots() {
        SparkConf conf = SparkEnv.get().conf();
        int processors = Runtime.getRuntime().availableProcessors();
        Matcher local = LOCAL.matcher(conf.get("spark.master", ""));
        if (local.lookingAt()) {
            return local.group(1).equals("*") ? processors : Integer.parseInt(local.group(1));
        }
        return Math.max(1, conf.getInt("spark.executor.cores", processors));
    }
}
