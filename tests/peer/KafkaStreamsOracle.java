import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The oracle: Kafka Streams makes the same tables as kstream, of the same topics. It also writes those
 * topics, so that neither side judges records that it has written in a way of its own.
 *
 * <p>usage: KafkaStreamsOracle PREFIX APP SEED, with the broker in KSTREAM_BROKERS and a folder for its
 * state in STATE_DIR. Reads commands from stdin and answers each with a line "ok": "write N" writes N
 * records to each of PREFIX-events, -words, -rows, -people, -timed, -left and -right; "edges" writes what
 * is known to differ to PREFIX-edges; "run" makes the tables of all that was written, in
 * PREFIX-oracle-CASE and the changelogs of APP, until nothing is left to read.
 */
public final class KafkaStreamsOracle {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Serde<String> TEXT = Serdes.String();
  private static final Serde<Long> NUMBER_AS_TEXT =
      Serdes.serdeFrom(
          (topic, number) ->
              number == null ? null : number.toString().getBytes(StandardCharsets.UTF_8),
          (topic, bytes) ->
              bytes == null ? null : Long.valueOf(new String(bytes, StandardCharsets.UTF_8)));
  private static final int LONGEST = 40;
  private static final List<String> INPUTS =
      List.of(
          "events", "words", "rows", "people", "timed", "edges", "left", "right", "facts", "named", "other");
  private static final Map<String, Object> PLAIN =
      Map.of("bootstrap.servers", System.getenv("KSTREAM_BROKERS"), "linger.ms", 5);

  private final String prefix;
  private final String app;
  private final Random random;
  private final TimedRecords timed;
  private final TimedRecords joined;
  private final TimedRecords tabled;

  private KafkaStreamsOracle(String prefix, String app, long seed) {
    this.prefix = prefix;
    this.app = app;
    this.random = new Random(seed);
    this.timed = new TimedRecords(seed);
    this.joined = new TimedRecords(seed + 1);
    this.tabled = new TimedRecords(seed + 2);
  }

  // ---- Inputs ------------------------------------------------------------------------------------

  /** Few keys, so that most rows change often; one of them is empty, and one is no ASCII. */
  private String anyKey() {
    int number = random.nextInt(60);
    return switch (number) {
      case 0 -> "";
      case 1 -> "ключ";
      case 2, 3 -> null;
      default -> "k" + number;
    };
  }

  /** Half of the times of a topic are shared by several records, and they go back as often as on. */
  private long anyTime() {
    return 1_700_000_000_000L + random.nextInt(2_000) * 1_000L;
  }

  private String anyEvent() {
    if (random.nextInt(12) == 0) {
      return null;
    }
    ObjectNode event = JSON.createObjectNode();
    if (random.nextInt(15) != 0) {
      event.put("user", "user-" + random.nextInt(40));
    }
    switch (random.nextInt(10)) {
      case 0 -> event.putNull("amount");
      case 1 -> {}
      default -> event.put("amount", random.nextInt(2_000_000) - 1_000_000);
    }
    return event.toString();
  }

  private String anyWord() {
    return switch (random.nextInt(12)) {
      case 0 -> null;
      case 1 -> "!"; // deletes the row
      case 2 -> "";
      default -> Integer.toString(random.nextInt(100_000), 36);
    };
  }

  private String anyRow() {
    return random.nextInt(4) == 0 ? null : "abc".charAt(random.nextInt(3)) + anyRowNumber();
  }

  private String anyRowNumber() {
    return Integer.toString(random.nextInt(1_000));
  }

  private void writeRecords(KafkaProducer<String, String> producer, int count) {
    for (int i = 0; i < count; i++) {
      producer.send(new ProducerRecord<>(prefix + "-events", null, anyTime(), anyKey(), anyEvent()));
      producer.send(new ProducerRecord<>(prefix + "-words", null, anyTime(), anyKey(), anyWord()));
      producer.send(new ProducerRecord<>(prefix + "-rows", null, anyTime(), anyKey(), anyRow()));
      producer.send(new ProducerRecord<>(prefix + "-people", null, anyTime(), anyKey(), anyEvent()));
      timed.write(producer, prefix + "-timed");
      joined.write(producer, prefix + "-left");
      joined.write(producer, prefix + "-right");
      tabled.writeApart(producer, prefix + "-facts", 1, false);
      tabled.writeApart(producer, prefix + "-named", 2, true);
      tabled.writeApart(producer, prefix + "-other", 3, true);
    }
  }

  private KafkaProducer<String, String> producer(Map<String, Object> properties) {
    return new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
  }

  /** What was aborted, in the midst of what was not, is nobody's input. */
  private void write(int count) {
    Map<String, Object> aborting = new HashMap<>(PLAIN);
    aborting.put("transactional.id", app + "-aborting");
    tabled.later();
    try (var producer = producer(PLAIN);
        var doomed = producer(aborting)) {
      writeRecords(producer, count / 2);
      producer.flush();
      doomed.initTransactions();
      doomed.beginTransaction();
      writeRecords(doomed, count / 10);
      doomed.flush();
      doomed.abortTransaction();
      writeRecords(producer, count - count / 2);
    }
  }

  private void writeEdges() {
    try (var producer = producer(PLAIN)) {
      TimedRecords.writeEdges(producer, prefix + "-edges");
    }
  }

  // ---- Tables ------------------------------------------------------------------------------------

  private static String userOf(String event) {
    return event == null ? null : Totals.parse(event).path("user").asText(null);
  }

  private static ObjectNode ordered(ObjectNode state, JsonNode amount) {
    boolean missing = amount.isMissingNode() || amount.isNull();
    if (!missing && !state.path("first").isNumber()) {
      state.set("first", amount);
    } else if (!state.has("first")) {
      state.putNull("first");
    }
    if (!missing || !state.has("last")) {
      state.set("last", missing ? JSON.nullNode() : amount);
    }
    return state;
  }

  private static String withKey(String key, JsonNode state) {
    return JSON.createObjectNode().put("key", key).setAll((ObjectNode) state).toString();
  }

  private static <V> Materialized<String, V, KeyValueStore<Bytes, byte[]>> store(
      String name, Serde<V> values) {
    return Materialized.<String, V, KeyValueStore<Bytes, byte[]>>as(name)
        .withKeySerde(TEXT)
        .withValueSerde(values);
  }

  private KStream<String, String> input(StreamsBuilder builder, String name) {
    return builder.stream(prefix + "-" + name, Consumed.with(TEXT, TEXT));
  }

  private void write(KStream<String, String> rows, String name) {
    rows.to(prefix + "-oracle-" + name, Produced.with(TEXT, TEXT));
  }

  private void aggregates(StreamsBuilder builder) {
    KStream<String, String> events = input(builder, "events");
    KTable<String, Long> counts =
        events.groupByKey(Grouped.with(TEXT, TEXT)).count(store("count", NUMBER_AS_TEXT));
    write(
        counts
            .toStream()
            .map(
                (key, count) ->
                    KeyValue.pair(
                        key, withKey(key, JSON.createObjectNode().put("count", count)))),
        "count");

    KTable<String, String> summary =
        events
            .groupByKey(Grouped.with(TEXT, TEXT))
            .aggregate(
                () -> "{}",
                (key, event, state) -> {
                  JsonNode amount = Totals.parse(event).path("amount");
                  return ordered(Totals.add(state, amount), amount).toString();
                },
                store("summary", TEXT));
    write(
        summary.toStream().mapValues((key, state) -> withKey(key, Totals.parse(state))), "summary");

    KTable<String, String> users =
        events
            .groupBy((key, event) -> userOf(event), Grouped.with("by-user", TEXT, TEXT))
            .aggregate(
                () -> "{}",
                (user, event, state) ->
                    Totals.add(state, Totals.parse(event).path("amount")).toString(),
                store("users", TEXT));
    write(users.toStream().mapValues((key, state) -> withKey(key, Totals.parse(state))), "users");
  }

  private static String tail(String text) {
    return text.length() <= LONGEST ? text : text.substring(text.length() - LONGEST);
  }

  private void functions(StreamsBuilder builder) {
    KStream<String, String> words = input(builder, "words");
    write(
        words
            .groupByKey(Grouped.with(TEXT, TEXT))
            .reduce(
                (sentence, word) -> word.equals("!") ? null : tail(sentence + " " + word),
                store("sentence", TEXT))
            .toStream(),
        "sentence");
    write(
        words
            .groupByKey(Grouped.with(TEXT, TEXT))
            .aggregate(
                () -> "0",
                (key, word, letters) ->
                    word.equals("!")
                        ? null
                        : Integer.toString(Integer.parseInt(letters) + word.length()),
                store("letters", TEXT))
            .toStream(),
        "letters");
    write(
        words
            .selectKey((key, word) -> word == null || word.isEmpty() ? null : word.substring(0, 1))
            .groupByKey(Grouped.with("by-initial", TEXT, TEXT))
            .reduce(
                (largest, word) -> word.compareTo(largest) > 0 ? word : largest,
                store("largest", TEXT))
            .toStream(),
        "largest");
  }

  /** Not cached: its changes are counted, and a cache would leave some of them out. */
  private void tables(StreamsBuilder builder) {
    KTable<String, String> latest =
        builder.table(
            prefix + "-rows", Consumed.with(TEXT, TEXT), store("latest", TEXT).withCachingDisabled());
    write(latest.toStream(), "latest");
    write(
        latest
            .toStream()
            .groupBy(
                (key, row) -> row == null ? null : row.substring(0, 1),
                Grouped.with("by-letter", TEXT, TEXT))
            .count(store("changes", NUMBER_AS_TEXT))
            .toStream()
            .map(
                (key, count) ->
                    KeyValue.pair(
                        key, withKey(key, JSON.createObjectNode().put("count", count)))),
        "changes");
  }

  // ---- The run -----------------------------------------------------------------------------------

  private Properties settings() {
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "application.id", app,
            "bootstrap.servers", System.getenv("KSTREAM_BROKERS"),
            "state.dir", System.getenv("STATE_DIR"),
            "auto.offset.reset", "earliest",
            "commit.interval.ms", "100",
            "main.consumer.isolation.level", "read_committed"));
    return properties;
  }

  /** Whether the application has committed the ends of these topics. */
  private boolean isRead(Admin admin, List<String> topics)
      throws InterruptedException, ExecutionException {
    Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
    for (var topic : admin.describeTopics(topics).allTopicNames().get().values()) {
      topic.partitions().forEach(
          p -> wanted.put(new TopicPartition(topic.name(), p.partition()), OffsetSpec.latest()));
    }
    Map<TopicPartition, ListOffsetsResultInfo> ends = admin.listOffsets(wanted).all().get();
    Map<TopicPartition, OffsetAndMetadata> committed =
        admin.listConsumerGroupOffsets(app).partitionsToOffsetAndMetadata().get();
    return ends.entrySet().stream()
        .allMatch(
            end -> {
              OffsetAndMetadata position = committed.get(end.getKey());
              return end.getValue().offset() == (position == null ? 0 : position.offset());
            });
  }

  /** What is committed of an input has reached its repartition topic, whose end is therefore known. */
  private void run() throws InterruptedException, ExecutionException {
    StreamsBuilder builder = new StreamsBuilder();
    aggregates(builder);
    functions(builder);
    tables(builder);
    TableAggregates.make(builder, prefix);
    new WindowedTables(builder, prefix).make();
    Joins.make(builder, prefix);
    List<String> inputs = new ArrayList<>();
    for (String name : INPUTS) {
      inputs.add(prefix + "-" + name);
    }
    List<String> repartitioned = new ArrayList<>();
    for (String name :
        List.of("by-user", "by-initial", "by-letter", TableAggregates.REPARTITION)) {
      repartitioned.add(app + "-" + name + "-repartition");
    }
    try (Admin admin = Admin.create(settings());
        KafkaStreams streams = new KafkaStreams(builder.build(), settings())) {
      streams.start();
      while (!isRead(admin, inputs)) {
        Thread.sleep(50);
      }
      while (!isRead(admin, repartitioned)) {
        Thread.sleep(50);
      }
      streams.close(Duration.ofSeconds(60));
    }
  }

  public static void main(String[] args)
      throws IOException, InterruptedException, ExecutionException {
    KafkaStreamsOracle oracle =
        new KafkaStreamsOracle(args[0], args[1], Long.parseLong(args[2]));
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      if (line.equals("run")) {
        oracle.run();
      } else if (line.equals("edges")) {
        oracle.writeEdges();
      } else {
        oracle.write(Integer.parseInt(line.substring("write ".length())));
      }
      System.out.println("ok");
    }
  }
}
