import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.state.Stores;

/** Joins, with both values side by side as kstream-join has them. */
final class Joins {
  private static final Serde<String> TEXT = Serdes.String();

  private Joins() {}

  private static String pair(String left, String right) {
    return "{\"left\":" + left + ",\"right\":" + right + "}";
  }

  static void make(StreamsBuilder builder, String prefix) {
    KStream<String, String> left = builder.stream(prefix + "-left", Consumed.with(TEXT, TEXT));
    KStream<String, String> right = builder.stream(prefix + "-right", Consumed.with(TEXT, TEXT));
    left.join(
            right,
            Joins::pair,
            JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(1), Duration.ofSeconds(20)),
            StreamJoined.with(TEXT, TEXT, TEXT))
        .to(prefix + "-oracle-pairs", Produced.with(TEXT, TEXT));
    tables(builder, prefix);
  }

  /** Without a cache, which would keep some changes of a row to itself. */
  private static KTable<String, String> table(StreamsBuilder builder, String topic) {
    return builder.table(
        topic,
        Consumed.with(TEXT, TEXT),
        Materialized.<String, String>as(Stores.inMemoryKeyValueStore(topic)).withCachingDisabled());
  }

  private static void tables(StreamsBuilder builder, String prefix) {
    KTable<String, String> named = table(builder, prefix + "-named");
    KTable<String, String> other = table(builder, prefix + "-other");
    Produced<String, String> text = Produced.with(TEXT, TEXT);
    builder.stream(prefix + "-facts", Consumed.with(TEXT, TEXT))
        .leftJoin(named, Joins::pair, Joined.with(TEXT, TEXT, TEXT))
        .to(prefix + "-oracle-with-rows", text);
    named.join(other, Joins::pair).toStream().to(prefix + "-oracle-inner-rows", text);
    named.outerJoin(other, Joins::pair).toStream().to(prefix + "-oracle-outer-rows", text);
  }
}
