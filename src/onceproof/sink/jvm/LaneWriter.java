package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Runs on executors, inside Spark's JVM: one lane of one batch, for the first time.
 *
 * <pre>
 *   fence ─▶ is our manifest the last word? ─▶ rows + token ─▶ does the token lie where the ledger
 *   (Fencing)         (Announcement)             ended when the driver looked? ─▶ commit (Writing)
 * </pre>
 *
 * The last question stands for reading the ledger after the fence: whatever anybody has added to
 * this lane's part of it since the driver looked lies where our token should.
 *
 * Whatever else happens is told as "failed", nothing of it is committed (or nobody knows), and the
 * driver takes the batch up again, as after a crash. All rows are read in any case: a task that
 * stops reading early leaves Spark's state uncommitted.
 *
 * Compiled on the driver by Spark's own compiler, Janino: no lambdas, no inferred type arguments.
 */
public final class LaneWriter implements Function2, Serializable {
    private static final long serialVersionUID = 3L;

    private final String plan; // JSON; may hold secrets

    public LaneWriter(String plan) {
        this.plan = plan;
    }

    public Object call(Object partition, Object rows) throws Exception {
        JsonNode told = new ObjectMapper().readTree(plan);
        JsonNode lane = told.get("lanes").get(String.valueOf(partition));
        if (lane == null) {
            throw new IllegalStateException("no lane for partition " + partition);
        }
        Talkative.quiet();
        Lane task = new Lane(told, lane, ((Integer) partition).intValue());
        return Collections.singletonList(task.carryOut((Iterator) rows)).iterator();
    }

    /** One task. */
    private static final class Lane implements Writing.Opener {
        private static final int MARKER = 1; // the record that ends a transaction lies behind the token

        private final JsonNode told;
        private final JsonNode lane;
        private final int partition;
        private final Rows rows;
        private volatile double fenceMs, readMs;

        Lane(JsonNode told, JsonNode lane, int partition) {
            this.told = told;
            this.lane = lane;
            this.partition = partition;
            this.rows = new Rows(told, partition);
        }

        String carryOut(Iterator source) throws Exception {
            long limitMs = told.get("transaction_timeout_ms").asLong();
            long openingMs = 2 * limitMs + told.get("manifest").get("wait_ms").asLong();
            Writing writing = new Writing(this, "lane", limitMs, openingMs);
            try {
                boolean isAny = source.hasNext(); // computes the first rows meanwhile
                writing.await();
                writing.begin();
                while (isAny) {
                    writing.take(rows, (InternalRow) source.next());
                    isAny = source.hasNext();
                }
                writing.commit(Told.entry(told.get("ledger").asText(), lane, rows), end());
            } finally {
                end(writing);
            }
            return report(writing);
        }

        public void open(Writing writing) throws Exception {
            long began = System.nanoTime();
            Fencing.Fenced found = Fencing.of(producerSettings(), told.get("generation").asText(), end());
            if (!writing.own(found.producer)) {
                return;
            }
            fenceMs = Writing.since(began);
            long asked = System.nanoTime();
            new Announcement(told.get("ledger").asText(), told.get("manifest"))
                    .require(Told.map(told.get("reader")), found.at);
            readMs = Writing.since(asked);
        }

        private long end() {
            return lane.get("end").asLong();
        }

        private Map producerSettings() {
            Map settings = Told.map(told.get("producer"));
            settings.put("transactional.id", lane.get("transactional_id").asText());
            Memory.bound(settings, Memory.slots());
            return settings;
        }

        private void end(Writing writing) {
            KafkaProducer committed = writing.end();
            if (committed != null) {
                long next = writing.entryOffset() + 1 + MARKER;
                Fencing.begin(producerSettings(), told.get("generation").asText(), end(), next, committed);
            }
        }

        private String report(Writing writing) throws Exception {
            ObjectNode report = Told.report(writing, rows);
            report.put("partition", partition);
            report.put("lane", lane.get("lane").asInt());
            report.put("fence_ms", fenceMs);
            report.put("read_ms", readMs);
            return report.toString();
        }
    }
}
