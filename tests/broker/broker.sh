#!/usr/bin/env bash
# A real Kafka broker for the tests: one KRaft node from Maven jars, on 127.0.0.1 alone.
#
#   broker.sh start     starts it unless it runs, waits until it serves, prints its address
#   broker.sh restart   stops it and starts it again on the same port with the same data
#   broker.sh stop      stops it and removes its data
#   broker.sh status    prints the address of the running broker; 1 when there is none
#
# Everything lies under build/broker of this checkout: libs/, data/, broker.log, pid, address. A second
# broker of one checkout has its own folder, KSTREAM_BROKER_HOME, and shares libs/. Several checkouts can
# each run one: the port is KSTREAM_BROKER_PORT, else the first free one from 19092 up. With
# KSTREAM_BROKERS set that cluster is used, and nothing is started or stopped.
# stdout carries the address and nothing else. Needs Java 17 and Maven.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$here/../.." && pwd)/build/broker
home=${KSTREAM_BROKER_HOME:-$build}
libs=$build/libs

say() { echo "% broker: $*" >&2; }
die() {
  echo "broker.sh: error: $*" >&2
  exit 1
}

# A pid is ours only while its command line names our own server.properties: pids are used again.
running() {
  local pid
  pid=$(cat "$home/pid" 2>/dev/null) || return 1
  [[ -n $pid && -r /proc/$pid/cmdline ]] || return 1
  tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF "$home/server.properties"
}

# Whoever does not even answer a connection has the port all the same.
taken() {
  local rc=0
  timeout 1 bash -c ": <'/dev/tcp/127.0.0.1/$1'" 2>/dev/null || rc=$?
  ((rc == 0 || rc == 124))
}

free_port() {
  local port=$1
  while taken "$port"; do port=$((port + 1)); done
  echo "$port"
}

fetch_jars() {
  cmp -s "$here/pom.xml" "$libs/pom.xml" && return
  say "fetching the jars of Kafka"
  rm -rf "$libs"
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$libs" >&2 ||
    die "Maven could not fetch Kafka: look above"
  cp "$here/pom.xml" "$libs/pom.xml"
}

# Small tests want answers at once: no delay before a first rebalance, few partitions in the internal
# topics, short sessions allowed, hung transactions given up soon. Nothing is deleted by age, since
# test records carry timestamps of any year.
write_properties() {
  local port=$1 controller=$2
  cat >"$home/server.properties" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$home/data
num.partitions=1
auto.create.topics.enable=false
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
log.retention.ms=-1
log.message.timestamp.after.max.ms=9223372036854775807
END
}

java=(java -cp "$libs/*" -Dorg.slf4j.simpleLogger.showDateTime=true)

# Starts on port $1 and waits. 1 when another program took the port meanwhile.
launch() {
  local port=$1
  write_properties "$port" "$(free_port $((port + 10000)))"
  if [[ ! -e $home/data/meta.properties ]]; then
    mkdir -p "$home/data"
    "${java[@]}" -XX:TieredStopAtLevel=1 kafka.tools.StorageTool format -t kstreamTestBrokerAAAAA \
      -c "$home/server.properties" >"$home/format.log" 2>&1 ||
      die "formatting failed: see $home/format.log"
  fi
  : >"$home/broker.log"
  setsid "${java[@]}" -Xms256m -Xmx1g kafka.Kafka "$home/server.properties" \
    >"$home/broker.log" 2>&1 </dev/null 9>&- &
  local pid=$!
  echo "$pid" >"$home/pid"
  disown "$pid"
  local turn
  for ((turn = 0; turn < 1200; turn++)); do
    if grep -q 'Kafka Server started' "$home/broker.log"; then
      echo "127.0.0.1:$port" >"$home/address"
      return 0
    fi
    if ! kill -0 "$pid" 2>/dev/null; then
      grep -q 'Address already in use' "$home/broker.log" && return 1
      die "the broker ended at start: see $home/broker.log"
    fi
    sleep 0.05
  done
  kill "$pid"
  die "the broker did not serve within 60 s: see $home/broker.log"
}

# $1: the port to insist on, or nothing.
start() {
  if running; then return; fi
  command -v java >/dev/null || die "java is missing: install a Java 17 runtime"
  command -v mvn >/dev/null || [[ -e $libs/pom.xml ]] || die "mvn is missing: install Maven"
  fetch_jars
  local port=${1:-${KSTREAM_BROKER_PORT:-}}
  if [[ -n $port ]]; then
    launch "$port" || die "port $port is taken by another program: see $home/broker.log"
    return
  fi
  port=$(free_port 19092)
  until launch "$port"; do port=$(free_port $((port + 1))); done
}

halt() {
  if running; then
    local pid turn
    pid=$(cat "$home/pid")
    kill "$pid"
    for ((turn = 0; turn < 200; turn++)); do
      running || break
      sleep 0.05
    done
    if running; then kill -9 "$pid"; fi
  fi
  rm -f "$home/pid"
}

command=${1:-}
if [[ -n ${KSTREAM_BROKERS:-} ]]; then
  case $command in
    start | status) echo "$KSTREAM_BROKERS" ;;
    stop) ;;
    restart) die "KSTREAM_BROKERS names a cluster that is not ours to restart" ;;
    *) die "usage: broker.sh start|stop|restart|status" ;;
  esac
  exit
fi

mkdir -p "$home"
exec 9>"$home/lock"
flock 9
case $command in
  start)
    running || rm -rf "$home/data"
    start
    cat "$home/address"
    ;;
  restart)
    address=$(cat "$home/address" 2>/dev/null) || die "there is no broker to restart: start it"
    halt
    start "${address##*:}"
    cat "$home/address"
    ;;
  stop)
    halt
    rm -rf "$home/data" "$home/address"
    ;;
  status)
    running || {
      say "not running"
      exit 1
    }
    cat "$home/address"
    ;;
  *) die "usage: broker.sh start|stop|restart|status" ;;
esac
