package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Runs on executors, inside Spark's JVM: one lane of one batch, for the first time.
 *
 * <pre>
 *   fence ─▶ is our manifest the last word? ─▶ rows + token ─▶ does the token lie where the ledger
 *   (Fencing)         (Announcement)             ended when the driver looked? ─▶ commit
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
    private static final long serialVersionUID = 2L;

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
    private static final class Lane implements Callback {
        private static final int MARKER = 1; // the record that ends a transaction lies behind the token
        private static final int CAUSES_MAX = 5;
        private static final long ASKED_EVERY_MS = 100;
        private static final long ABORTING_MS = 10000;
        private static final long ENDING_MS = 5000; // of what opens the lane
        private static final Duration CLOSING = Duration.ofSeconds(5);

        private final JsonNode told;
        private final JsonNode lane;
        private final int partition;
        private final Rows rows;
        private final long limitMs;

        private KafkaProducer producer;
        private boolean isGivenUp; // by the task, before it was open
        private volatile Exception undelivered; // set by the producer's own thread
        private volatile Throwable failure;
        private boolean isCommitted;
        private long beganWriting;
        private double fenceMs, readMs, writeMs, commitMs;
        private long tokenOffset = -1;
        private boolean isLate;

        Lane(JsonNode told, JsonNode lane, int partition) {
            this.told = told;
            this.lane = lane;
            this.partition = partition;
            this.rows = new Rows(told, partition);
            this.limitMs = told.get("transaction_timeout_ms").asLong();
        }

        String carryOut(Iterator source) throws Exception {
            Thread opening = new Thread(new Opening(this), "onceproof-sink-opening");
            opening.setDaemon(true);
            opening.start();
            try {
                boolean isAny = source.hasNext(); // computes the first rows meanwhile
                await(opening);
                begin();
                while (isAny) {
                    take((InternalRow) source.next());
                    isAny = source.hasNext();
                }
                commit();
            } finally {
                end(opening);
            }
            return report();
        }

        /** Spark cancels a job without a word to its tasks' threads: they have to ask. */
        private void await(Thread opening) throws InterruptedException {
            long began = System.nanoTime();
            while (opening.isAlive() && since(began) < openingMs()) {
                opening.join(ASKED_EVERY_MS);
                TaskContext.get().killTaskIfInterrupted();
            }
            if (opening.isAlive()) {
                fail(new IllegalStateException("the lane was not open after " + openingMs() + " ms"));
            }
        }

        /** What it asks of brokers is bounded, but not what a login asks of others. */
        private long openingMs() {
            return 2 * limitMs + told.get("manifest").get("wait_ms").asLong();
        }

        /** Whatever happened, killed or not: nothing of the lane stays open here. */
        private void end(Thread opening) {
            boolean wasInterrupted = Thread.interrupted(); // or the abort would not even be sent
            long began = System.nanoTime();
            while (opening.isAlive() && since(began) < ENDING_MS) {
                opening.interrupt();
                try {
                    opening.join(ASKED_EVERY_MS);
                } catch (InterruptedException again) {
                    wasInterrupted = true;
                }
            }
            giveUp();
            close();
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }

        void open() {
            long began = System.nanoTime();
            try {
                Fencing.Fenced found = Fencing.of(producerSettings(), told.get("generation").asText(), end());
                if (!isTaken(found.producer)) {
                    return;
                }
                fenceMs = since(began);
                long asked = System.nanoTime();
                new Announcement(told.get("ledger").asText(), told.get("manifest"))
                        .require(mapOf(told.get("reader")), found.at);
                readMs = since(asked);
            } catch (Throwable problem) { // left to itself it would end the whole executor
                if (failure == null) { // else the task has given up, and said why
                    failure = problem;
                }
            }
        }

        private synchronized boolean isTaken(KafkaProducer made) {
            if (isGivenUp) {
                Fencing.close(made, Duration.ZERO); // nobody waits for it any more
                return false;
            }
            producer = made;
            return true;
        }

        private synchronized void giveUp() {
            isGivenUp = true;
        }

        private long end() {
            return lane.get("end").asLong();
        }

        private Map producerSettings() {
            Map settings = mapOf(told.get("producer"));
            settings.put("transactional.id", lane.get("transactional_id").asText());
            if (!settings.containsKey("buffer.memory")) {
                settings.put("buffer.memory", String.valueOf(Memory.ofALane(settings)));
            }
            return settings;
        }

        private void begin() {
            beganWriting = System.nanoTime();
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

        private void take(InternalRow row) {
            rows.count(row);
            stopIfLate();
            if (failure != null) {
                return;
            }
            try {
                producer.send(rows.recordOf(row), this);
            } catch (RuntimeException problem) {
                failed(problem);
            } catch (LinkageError problem) {
                fail(new IllegalStateException(problem));
            }
            failIfUndelivered();
        }

        /** A transaction that outlasts its timeout is aborted by the brokers, whatever we do. */
        private void stopIfLate() {
            if (failure == null && since(beganWriting) >= limitMs) {
                failed(new IllegalStateException("late"));
            }
        }

        private void failIfUndelivered() {
            if (undelivered != null) {
                fail(undelivered);
            }
        }

        private void commit() throws Exception {
            TaskContext.get().killTaskIfInterrupted();
            stopIfLate();
            if (failure != null) {
                return;
            }
            try {
                Future token = producer.send(token());
                flush();
                failIfUndelivered();
                if (failure != null) {
                    return;
                }
                tokenOffset = ((RecordMetadata) token.get()).offset();
                requireItsPlace();
                writeMs = since(beganWriting);
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
            if (!Patience.flush(producer, limitMs - (long) since(beganWriting))) {
                stopIfLate();
                fail(new IllegalStateException("not flushed in the transaction's time"));
            }
        }

        private void requireItsPlace() {
            if (tokenOffset != end()) {
                throw new IllegalStateException("the token lies at " + tokenOffset + " of "
                        + told.get("ledger").asText() + "-" + lane.get("partition").asInt() + "; expected "
                        + end() + ": somebody else has written there since the driver looked");
            }
        }

        private ProducerRecord token() throws Exception {
            ObjectMapper mapper = new ObjectMapper();
            ObjectNode token = (ObjectNode) mapper.readTree(lane.get("token").asText());
            token.put("rows", rows.count());
            token.put("digest", rows.digest());
            return new ProducerRecord(told.get("ledger").asText(), Integer.valueOf(lane.get("partition").asInt()),
                    null, lane.get("key").asText().getBytes(StandardCharsets.UTF_8), mapper.writeValueAsBytes(token), null);
        }

        /** An interrupted task is Spark's affair: it goes on as one. */
        private void failed(RuntimeException problem) {
            if (problem instanceof InterruptException) {
                throw problem;
            }
            fail(problem);
        }

        /** Whatever fails when it is late fails of that: brokers fence who is. Who got no answer says of what. */
        private void fail(Exception problem) {
            if (failure == null) {
                failure = problem;
                isLate = beganWriting != 0 && since(beganWriting) >= limitMs && !(problem instanceof TimeoutException);
            }
        }

        private void close() {
            if (producer == null) {
                return;
            }
            if (isCommitted) {
                Fencing.close(producer, CLOSING);
                Fencing.begin(producerSettings(), told.get("generation").asText(), end(), tokenOffset + 1 + MARKER);
                return;
            }
            try {
                Patience.abort(producer, ABORTING_MS);
            } catch (InterruptedException again) {
                Thread.currentThread().interrupt();
            }
            Fencing.close(producer, Duration.ZERO);
        }

        /** Each with what caused it: a producer that could not be made says why only there. */
        private static String told(Throwable problem) {
            StringBuilder text = new StringBuilder(String.valueOf(problem));
            Throwable cause = problem.getCause();
            for (int depth = 0; cause != null && depth < CAUSES_MAX; depth++) {
                text.append("; caused by ").append(cause);
                cause = cause.getCause();
            }
            return text.toString();
        }

        private String report() throws Exception {
            ObjectMapper mapper = new ObjectMapper();
            ObjectNode report = mapper.createObjectNode();
            report.put("partition", partition);
            report.put("lane", lane.get("lane").asInt());
            report.put("state", failure == null ? "committed" : isLate ? "outlasted" : "failed");
            report.put("rows", rows.count());
            report.put("digest", rows.digest());
            report.put("size", rows.size());
            report.put("detail", failure == null ? "" : told(failure));
            report.put("fence_ms", fenceMs);
            report.put("read_ms", readMs);
            report.put("write_ms", isLate ? since(beganWriting) : writeMs);
            report.put("commit_ms", commitMs);
            report.put("token_offset", tokenOffset);
            return mapper.writeValueAsString(report);
        }

        public void onCompletion(RecordMetadata metadata, Exception problem) {
            if (problem != null && undelivered == null) {
                undelivered = problem;
            }
        }
    }

    private static final class Opening implements Runnable {
        private final Lane lane;

        Opening(Lane lane) {
            this.lane = lane;
        }

        public void run() {
            lane.open();
        }
    }

    private static Map mapOf(JsonNode node) {
        Map found = new HashMap();
        Iterator names = node.fieldNames();
        while (names.hasNext()) {
            String name = (String) names.next();
            found.put(name, node.get(name).asText());
        }
        return found;
    }

    private static double since(long began) {
        return (System.nanoTime() - began) / 1e6;
    }
}
