import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.List;

/** Count, sum, min and max of amounts, as one flat JSON object: what no order of records changes. */
final class Totals {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Totals() {}

  static JsonNode parse(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isNone(JsonNode amount) {
    return amount.isMissingNode() || amount.isNull();
  }

  /** The smaller or larger one becomes the state's member of that name. */
  private static void choose(ObjectNode state, String name, JsonNode amount) {
    JsonNode old = state.path(name);
    boolean replaces =
        !isNone(amount)
            && (isNone(old)
                || (name.equals("min")
                    ? amount.asLong() < old.asLong()
                    : amount.asLong() > old.asLong()));
    if (replaces) {
      state.set(name, amount);
    } else if (old.isMissingNode()) {
      state.putNull(name);
    }
  }

  /** Adds an amount, which may be null or missing, to a state, which is "{}" at first. */
  static ObjectNode add(String old, JsonNode amount) {
    ObjectNode state = (ObjectNode) parse(old);
    state.put("count", state.path("count").asLong() + 1);
    state.put("total", state.path("total").asLong() + (isNone(amount) ? 0 : amount.asLong()));
    choose(state, "min", amount);
    choose(state, "max", amount);
    return state;
  }

  /** Two states become one. */
  static ObjectNode merge(String one, String another) {
    ObjectNode state = (ObjectNode) parse(one);
    JsonNode other = parse(another);
    for (String name : List.of("count", "total")) {
      state.put(name, state.path(name).asLong() + other.path(name).asLong());
    }
    choose(state, "min", other.path("min"));
    choose(state, "max", other.path("max"));
    return state;
  }
}
