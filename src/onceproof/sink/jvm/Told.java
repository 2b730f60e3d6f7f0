package onceproof.sink;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Runs on executors. What the driver tells a task, and is told by it: JSON, as plan.py has it. */
public final class Told {
    private Told() {
    }

    public static Map map(JsonNode node) {
        Map found = new HashMap();
        Iterator names = node.fieldNames();
        while (names.hasNext()) {
            String name = (String) names.next();
            found.put(name, node.get(name).asText());
        }
        return found;
    }

    /** The ledger's entry as the driver wrote it, and what the rows come to, which it could not know. */
    public static ProducerRecord entry(String ledger, JsonNode told, Rows rows) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode entry = (ObjectNode) mapper.readTree(told.get("entry").asText());
        entry.put("rows", rows.count());
        entry.put("digest", rows.digest());
        byte[] key = told.get("key").asText().getBytes(StandardCharsets.UTF_8);
        Integer partition = Integer.valueOf(told.get("partition").asInt());
        return new ProducerRecord(ledger, partition, null, key, mapper.writeValueAsBytes(entry), null);
    }

    public static ObjectNode report(Writing writing, Rows rows) {
        ObjectNode report = new ObjectMapper().createObjectNode();
        report.put("state", writing.state());
        report.put("rows", rows.count());
        report.put("digest", rows.digest());
        report.put("size", rows.size());
        report.put("detail", writing.detail());
        report.put("write_ms", writing.writeMs());
        report.put("commit_ms", writing.commitMs());
        report.put("entry_offset", writing.entryOffset());
        return report;
    }
}
