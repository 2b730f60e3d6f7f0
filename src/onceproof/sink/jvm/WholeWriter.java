package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.api.java.function.Function2;

/**
 * Runs where all of Spark's tasks share one JVM: a task of a batch that is written whole, in one
 * transaction by all of them (WholeBatch).
 */
public final class WholeWriter implements Function2, Serializable {
    private static final long serialVersionUID = 1L;

    private final String plan; // JSON; may hold secrets

    public WholeWriter(String plan) {
        this.plan = plan;
    }

    public Object call(Object partition, Object rows) throws Exception {
        JsonNode told = new ObjectMapper().readTree(plan);
        Talkative.quiet();
        String report = WholeBatch.of(told).carryOut(((Integer) partition).intValue(), (Iterator) rows);
        return Collections.singletonList(report).iterator();
    }
}
