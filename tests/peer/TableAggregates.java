import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Aggregates of a table, whose rows are taken out of their group when they change. A state has all
 * amounts of its group, since the smallest of them may be taken out.
 */
final class TableAggregates {
  static final String REPARTITION = "by-user-of-row";
  private static final Serde<String> TEXT = Serdes.String();

  private TableAggregates() {}

  private static JsonNode amountOf(String event) {
    return Totals.parse(event).path("amount");
  }

  private static String add(String event, String state) {
    ObjectNode group = (ObjectNode) Totals.parse(state);
    group.put("count", group.path("count").asLong() + 1);
    if (amountOf(event).isNumber()) {
      group.withArray("amounts").add(amountOf(event));
    }
    return group.toString();
  }

  private static String remove(String event, String state) {
    ObjectNode group = (ObjectNode) Totals.parse(state);
    group.put("count", group.path("count").asLong() - 1);
    ArrayNode amounts = group.withArray("amounts");
    for (int i = 0; i < amounts.size(); i++) {
      if (amounts.get(i).equals(amountOf(event))) {
        amounts.remove(i);
        break;
      }
    }
    return group.toString();
  }

  private static LongStream amountsOf(JsonNode group) {
    return StreamSupport.stream(group.path("amounts").spliterator(), false)
        .mapToLong(JsonNode::asLong);
  }

  private static String row(String user, String state) {
    JsonNode group = Totals.parse(state);
    ObjectNode row = JsonNodeFactory.instance.objectNode();
    row.put("key", user);
    row.put("count", group.path("count").asLong());
    row.put("total", amountsOf(group).sum());
    row.putNull("min").putNull("max");
    amountsOf(group).min().ifPresent(amount -> row.put("min", amount));
    amountsOf(group).max().ifPresent(amount -> row.put("max", amount));
    return row.toString();
  }

  private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> store(String name) {
    return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name)
        .withKeySerde(TEXT)
        .withValueSerde(TEXT);
  }

  /** The rows are not cached: of those that a cache leaves out the groups would not know the time. */
  static void make(StreamsBuilder builder, String prefix) {
    KTable<String, String> rows =
        builder.table(
            prefix + "-people",
            Consumed.with(TEXT, TEXT),
            store("user-rows").withCachingDisabled());
    rows.groupBy(
            (key, event) -> KeyValue.pair(Totals.parse(event).path("user").asText(null), event),
            Grouped.with(REPARTITION, TEXT, TEXT))
        .aggregate(
            () -> "{}",
            (user, event, state) -> add(event, state),
            (user, event, state) -> remove(event, state),
            store("table-users"))
        .toStream()
        .mapValues(TableAggregates::row)
        .to(prefix + "-oracle-table-users", Produced.with(TEXT, TEXT));
  }
}
