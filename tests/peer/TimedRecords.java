import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Records for windows and joins: their times go on, and of some of them back. Keys are never null, and values
 * only in tables, since the two sides count those differently (README.md).
 *
 * <p>Times are multiples of 10 ms, so that several records share one, and gaps, lengths and edges of
 * windows are met exactly. A record is behind the largest time so far by {@link #BACK} at most, or by
 * {@link #FAR_BACK}; now and then time jumps over several windows.
 */
final class TimedRecords {
  static final long FIRST = 1_700_000_000_000L;
  static final long BACK = 8_000;
  static final long FAR_BACK = 3_600_000;
  private static final int TICK = 10;

  private final Random random;
  private long now = FIRST;
  private int count;

  TimedRecords(long seed) {
    this.random = new Random(seed);
  }

  private long time() {
    now += random.nextInt(4) * TICK;
    int chance = random.nextInt(400);
    if (chance == 0) {
      now += (1 + random.nextInt(30)) * 10_000L;
    } else if (chance < 4) {
      return now - FAR_BACK;
    } else if (chance < 100) {
      return now - random.nextInt((int) BACK / TICK + 1) * TICK;
    }
    return now;
  }

  private String key() {
    int number = random.nextInt(60);
    return switch (number) {
      case 0 -> "";
      case 1 -> "ключ";
      case 2 -> "\"k,2\"";
      default -> "k" + number;
    };
  }

  private String value() {
    ObjectNode event = JsonNodeFactory.instance.objectNode().put("n", count++);
    switch (random.nextInt(10)) {
      case 0 -> event.putNull("amount");
      case 1 -> {}
      default -> event.put("amount", random.nextInt(2_000_000) - 1_000_000);
    }
    return event.toString();
  }

  void write(Producer<String, String> producer, String topic) {
    producer.send(new ProducerRecord<>(topic, null, time(), key(), value()));
  }

  /** What comes from now on is later than all before, so that it is no matter when it is written. */
  void later() {
    now += 2 * FAR_BACK;
  }

  /** With times that no topic of another `apart` has, from 1 to 9. */
  void writeApart(Producer<String, String> producer, String topic, int apart, boolean isTable) {
    long time = time() + apart;
    boolean deletes = isTable && random.nextInt(5) == 0;
    producer.send(new ProducerRecord<>(topic, null, time, key(), deletes ? null : value()));
  }

  private static ProducerRecord<String, String> edge(
      String topic, int partition, String key, long time, String value) {
    return new ProducerRecord<>(topic, partition, time, key, value);
  }

  /**
   * What is known to differ, each in a partition of its own, since stream time is a partition's. The
   * groups say which it is.
   */
  static void writeEdges(Producer<String, String> producer, String topic) {
    List.of(
            edge(topic, 0, "closed", 1_000, "{}"),
            edge(topic, 0, "clock", 2_500, "{}"),
            edge(topic, 0, "closed", 1_900, "{}"),
            edge(topic, 1, "end", 10_000, "{}"),
            edge(topic, 1, "clock", 10_500, "{}"),
            edge(topic, 1, "end", 10_000, "{}"),
            edge(topic, 1, "after", 11_500, "{}"),
            edge(topic, 1, "clock", 12_500, "{}"),
            edge(topic, 1, "after", 10_999, "{}"),
            edge(topic, 1, "clock", 20_000, "{}"),
            edge(topic, 1, "forgotten", 19_000, "{}"),
            edge(topic, 1, "forgotten", 19_900, "{}"),
            edge(topic, 2, "valueless", 1_000, "{}"),
            edge(topic, 2, "valueless", 1_000, null),
            edge(topic, 3, "keyless", 1_000, "{}"),
            edge(topic, 3, null, 20_000, "{}"),
            edge(topic, 3, "keyless", 1_000, "{}"))
        .forEach(producer::send);
  }
}
