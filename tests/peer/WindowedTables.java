import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.TimeWindowedKStream;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.kstream.internals.WindowedSerializer;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/**
 * Tables of windows, as peer_windows.py asks kstream-agg for them: count, sum, min and max. Keys are
 * written as kstream writes them, JSON of group and start, and of sessions the end, in the partition
 * that the group alone would choose.
 */
final class WindowedTables {
  private static final Serde<String> TEXT = Serdes.String();

  /** Being one of windows it has Kafka Streams choose partitions by the base key. */
  private static final class JsonKey implements WindowedSerializer<String> {
    @Override
    public byte[] serialize(String topic, Windowed<String> key) {
      ArrayNode json = JsonNodeFactory.instance.arrayNode();
      json.add(key.key()).add(key.window().start());
      if (key.window() instanceof SessionWindow) {
        json.add(key.window().end());
      }
      return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] serializeBaseKey(String topic, Windowed<String> key) {
      return key.key().getBytes(StandardCharsets.UTF_8);
    }
  }

  private final StreamsBuilder builder;
  private final String prefix;

  WindowedTables(StreamsBuilder builder, String prefix) {
    this.builder = builder;
    this.prefix = prefix;
  }

  /** Other than without windows, records without a value come here too. */
  private static String add(String state, String event) {
    return Totals.add(state, Totals.parse(event == null ? "{}" : event).path("amount")).toString();
  }

  private void write(KTable<Windowed<String>, String> table, String name) {
    table
        .toStream()
        .mapValues(
            (key, state) -> {
              if (state == null) {
                return null;
              }
              ObjectNode row = JsonNodeFactory.instance.objectNode();
              row.put("key", key.key());
              row.put("window_start", key.window().start());
              row.put("window_end", key.window().end());
              return row.<ObjectNode>setAll((ObjectNode) Totals.parse(state)).toString();
            })
        .to(prefix + "-oracle-" + name, Produced.with(new JsonKeys(), TEXT));
  }

  private static final class JsonKeys extends Serdes.WrapperSerde<Windowed<String>> {
    JsonKeys() {
      super(
          new JsonKey(),
          (topic, bytes) -> {
            throw new UnsupportedOperationException("these keys are only written");
          });
    }
  }

  private void aggregate(TimeWindowedKStream<String, String> windows, String name) {
    Materialized<String, String, WindowStore<Bytes, byte[]>> store =
        Materialized.<String, String, WindowStore<Bytes, byte[]>>as(name)
            .withKeySerde(TEXT)
            .withValueSerde(TEXT);
    write(windows.aggregate(() -> "{}", (key, event, state) -> add(state, event), store), name);
  }

  private static Materialized<String, String, SessionStore<Bytes, byte[]>> sessionStore(
      String name) {
    return Materialized.<String, String, SessionStore<Bytes, byte[]>>as(name)
        .withKeySerde(TEXT)
        .withValueSerde(TEXT);
  }

  private KTable<Windowed<String>, String> sessions(
      KGroupedStream<String, String> groups,
      SessionWindows windows,
      Materialized<String, String, SessionStore<Bytes, byte[]>> store) {
    return groups
        .windowedBy(windows)
        .aggregate(
            () -> "{}",
            (key, event, state) -> add(state, event),
            (key, state, other) -> Totals.merge(state, other).toString(),
            store);
  }

  private KGroupedStream<String, String> groups(String topic) {
    return builder
        .stream(prefix + "-" + topic, Consumed.with(TEXT, TEXT))
        .groupByKey(Grouped.with(TEXT, TEXT));
  }

  private static Duration ms(long number) {
    return Duration.ofMillis(number);
  }

  void make() {
    KGroupedStream<String, String> timed = groups("timed");
    aggregate(
        timed.windowedBy(TimeWindows.ofSizeAndGrace(ms(10_000), ms(1_000))), "tumbling");
    aggregate(
        timed.windowedBy(
            TimeWindows.ofSizeAndGrace(ms(10_000), ms(2_000)).advanceBy(ms(3_000))),
        "hopping");
    aggregate(
        timed.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(ms(2_000), ms(9_000))),
        "sliding");
    // A cache has sessions that have closed, and a store without one drops them at the very end of
    // their grace: a millisecond more, and neither is met.
    write(
        sessions(
            timed,
            SessionWindows.ofInactivityGapAndGrace(ms(1_000), ms(1_000)),
            sessionStore("session").withCachingDisabled().withRetention(ms(2_001))),
        "session");

    KGroupedStream<String, String> edges = groups("edges");
    aggregate(
        edges.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(ms(1_000), ms(500))),
        "edge-sliding");
    write(
        sessions(
            edges,
            SessionWindows.ofInactivityGapAndGrace(ms(1_000), ms(100)),
            sessionStore("edge-session")),
        "edge-session");
  }
}
