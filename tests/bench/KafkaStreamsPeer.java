import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * The rival: the same work in Kafka Streams, with one stream thread and the settings that its users
 * are advised to take for throughput. The filter parses each value with Jackson, the usual choice;
 * the count is by key, in RocksDB, with the caches that are the default.
 *
 * <p>usage: KafkaStreamsPeer copy|filter|count|restore|tumbling|hopping|sessions|join IN OUT N,
 * with the broker in KSTREAM_BROKERS and a folder for its state in STATE_DIR. An application id, where it
 * matters, is in APP, a guarantee in GUARANTEE, a commit interval in COMMIT_MS; with EMIT=final the
 * rows of windows come when these close. Prints one line of NAME=VALUE figures that count from the
 * first record on; of `restore`, which is a `count` that lost its state, from the first record
 * restored.
 */
public final class KafkaStreamsPeer {
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Counts the records read, and takes the time at the first and at the last of them. */
  private static final class Meter {
    private final long expected;
    private final AtomicLong seen = new AtomicLong();
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile long wallStart;
    private volatile long cpuStart;

    Meter(long expected) {
      this.expected = expected;
    }

    synchronized void start() {
      if (wallStart == 0) {
        wallStart = System.nanoTime();
        cpuStart = PROCESS.getProcessCpuTime();
      }
    }

    void add(long records) {
      if (seen.addAndGet(records) >= expected) {
        finished.countDown();
      }
    }

    void tick() {
      if (seen.get() == 0) {
        start();
      }
      add(1);
    }

    void awaitAndPrint() throws InterruptedException {
      finished.await();
      double wall = (System.nanoTime() - wallStart) / 1e9;
      double cpu = (PROCESS.getProcessCpuTime() - cpuStart) / 1e9;
      System.out.printf("records=%d wall_s=%.3f cpu_s=%.3f%n", expected, wall, cpu);
    }
  }

  /** Meters what is restored. */
  private record RestoreMeter(Meter meter) implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
      meter.start();
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long end, long records) {
      meter.add(records);
    }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long records) {}
  }

  private static boolean isLarge(byte[] value) {
    try {
      return JSON.readTree(value).path("amount").asDouble() > 500;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static KTable<Windowed<byte[]>, Long> windows(
      String mode, KGroupedStream<byte[], byte[]> groups) {
    Duration tenSeconds = Duration.ofSeconds(10);
    return switch (mode) {
      case "tumbling" ->
          groups
              .windowedBy(TimeWindows.ofSizeWithNoGrace(tenSeconds))
              .count(Materialized.as("counts"));
      case "hopping" ->
          groups
              .windowedBy(
                  TimeWindows.ofSizeWithNoGrace(tenSeconds.multipliedBy(6)).advanceBy(tenSeconds))
              .count(Materialized.as("counts"));
      case "sessions" ->
          groups
              .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(tenSeconds.multipliedBy(3)))
              .count(Materialized.as("counts"));
      default -> throw new IllegalArgumentException("there is no mode " + mode);
    };
  }

  private static byte[] text(Object object) {
    return object.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] keyOf(Windowed<byte[]> group) {
    String key = new String(group.key(), StandardCharsets.UTF_8);
    return text(key + "@" + group.window().start() + "@" + group.window().end());
  }

  private static KStream<byte[], byte[]> countWindows(
      String mode, KStream<byte[], byte[]> source) {
    KTable<Windowed<byte[]>, Long> counts =
        windows(mode, source.groupByKey(Grouped.with(Serdes.ByteArray(), Serdes.ByteArray())));
    if (setting("EMIT", "update").equals("final")) {
      counts = counts.suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded()));
    }
    return counts
        .toStream((group, count) -> keyOf(group))
        .mapValues(count -> count == null ? null : text(count));
  }

  /** The window has no grace, as the inputs are in order, and ours has none. */
  private static KStream<byte[], byte[]> join(
      KStream<byte[], byte[]> left, KStream<byte[], byte[]> right) {
    return left.join(
        right,
        (one, other) ->
            text(
                "{\"left\":"
                    + new String(one, StandardCharsets.UTF_8)
                    + ",\"right\":"
                    + new String(other, StandardCharsets.UTF_8)
                    + "}"),
        JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofSeconds(10)),
        StreamJoined.with(Serdes.ByteArray(), Serdes.ByteArray(), Serdes.ByteArray()));
  }

  private static String setting(String name, String otherwise) {
    String value = System.getenv(name);
    return value == null ? otherwise : value;
  }

  private static Properties settings(String mode) {
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "application.id", setting("APP", "peer-" + mode + "-" + System.nanoTime()),
            "bootstrap.servers", System.getenv("KSTREAM_BROKERS"),
            "state.dir", System.getenv("STATE_DIR"),
            "auto.offset.reset", "earliest",
            "processing.guarantee", setting("GUARANTEE", "at_least_once"),
            "commit.interval.ms", setting("COMMIT_MS", "1000"),
            "default.key.serde", Serdes.ByteArraySerde.class,
            "default.value.serde", Serdes.ByteArraySerde.class));
    properties.putAll(
        Map.of(
            "producer.linger.ms", "20",
            "producer.batch.size", "1000000",
            "producer.buffer.memory", "134217728",
            "main.consumer.max.poll.records", "10000",
            "main.consumer.max.partition.fetch.bytes", "4194304",
            "restore.consumer.max.poll.records", "10000",
            "restore.consumer.max.partition.fetch.bytes", "4194304"));
    return properties;
  }

  public static void main(String[] args) throws InterruptedException {
    String mode = args[0];
    Meter meter = new Meter(Long.parseLong(args[3]));
    StreamsBuilder builder = new StreamsBuilder();
    KStream<byte[], byte[]> source = builder.stream(args[1]);
    if (!mode.equals("restore")) {
      source = source.peek((key, value) -> meter.tick());
    }
    switch (mode) {
      case "copy" -> source.to(args[2]);
      case "filter" -> source.filter((key, value) -> isLarge(value)).to(args[2]);
      case "count", "restore" ->
          source
              .groupByKey()
              .count(Materialized.as("counts"))
              .toStream()
              .mapValues(KafkaStreamsPeer::text)
              .to(args[2]);
      case "join" ->
          join(
                  source,
                  builder
                      .<byte[], byte[]>stream(setting("RIGHT", ""))
                      .peek((key, value) -> meter.tick()))
              .to(args[2]);
      default -> countWindows(mode, source).to(args[2]);
    }
    KafkaStreams streams = new KafkaStreams(builder.build(), settings(mode));
    if (mode.equals("restore")) {
      streams.setGlobalStateRestoreListener(new RestoreMeter(meter));
    }
    streams.setUncaughtExceptionHandler(
        exception -> {
          Runtime.getRuntime().halt(1); // nobody would count the rest
          return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
    streams.start();
    meter.awaitAndPrint();
    // Its next start need not wait until the session of this one has run out.
    streams.close(
        new KafkaStreams.CloseOptions().timeout(Duration.ofSeconds(60)).leaveGroup(true));
    System.exit(0);
  }
}
