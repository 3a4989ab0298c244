import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KStream;

/**
 * The rival: the same work in Kafka Streams, with one stream thread and the settings that its users
 * are advised to take for throughput. The filter parses each value with Jackson, the usual choice.
 *
 * <p>usage: KafkaStreamsPeer copy|filter IN OUT N, with the broker in KSTREAM_BROKERS and a folder
 * for its state in STATE_DIR. Prints one line of NAME=VALUE figures that count from the first
 * record on.
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

    void tick() {
      long count = seen.incrementAndGet();
      if (count == 1) {
        wallStart = System.nanoTime();
        cpuStart = PROCESS.getProcessCpuTime();
      }
      if (count == expected) {
        finished.countDown();
      }
    }

    void awaitAndPrint() throws InterruptedException {
      finished.await();
      double wall = (System.nanoTime() - wallStart) / 1e9;
      double cpu = (PROCESS.getProcessCpuTime() - cpuStart) / 1e9;
      System.out.printf("records=%d wall_s=%.3f cpu_s=%.3f%n", expected, wall, cpu);
    }
  }

  private static boolean isLarge(byte[] value) {
    try {
      return JSON.readTree(value).path("amount").asDouble() > 500;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Properties settings(String mode) {
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "application.id", "peer-" + mode + "-" + System.nanoTime(),
            "bootstrap.servers", System.getenv("KSTREAM_BROKERS"),
            "state.dir", System.getenv("STATE_DIR"),
            "auto.offset.reset", "earliest",
            "commit.interval.ms", "1000",
            "default.key.serde", Serdes.ByteArraySerde.class,
            "default.value.serde", Serdes.ByteArraySerde.class));
    properties.putAll(
        Map.of(
            "producer.linger.ms", "20",
            "producer.batch.size", "1000000",
            "producer.buffer.memory", "134217728",
            "main.consumer.max.poll.records", "10000",
            "main.consumer.max.partition.fetch.bytes", "4194304"));
    return properties;
  }

  public static void main(String[] args) throws InterruptedException {
    String mode = args[0];
    Meter meter = new Meter(Long.parseLong(args[3]));
    StreamsBuilder builder = new StreamsBuilder();
    KStream<byte[], byte[]> source = builder.stream(args[1]);
    KStream<byte[], byte[]> counted = source.peek((key, value) -> meter.tick());
    switch (mode) {
      case "copy" -> counted.to(args[2]);
      case "filter" -> counted.filter((key, value) -> isLarge(value)).to(args[2]);
      default -> throw new IllegalArgumentException("mode is copy or filter, not " + mode);
    }
    KafkaStreams streams = new KafkaStreams(builder.build(), settings(mode));
    streams.start();
    meter.awaitAndPrint();
    streams.close(Duration.ofSeconds(60));
    System.exit(0);
  }
}
