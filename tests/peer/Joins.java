import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;

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
  }
}
