"""From topic to topic, without state."""

import collections
import os
import statistics
import subprocess
import tempfile
import time

from contest import Contender, Run, die, execute, say, take_turns
from peers import TOPIC_RECORDS, Topics, compile_peer, read_figures

FILTER = '.amount > 500'
PIPE_RECORDS = 300_000


def on_topics(tools, raw_loop, rounds, work, table):
    brokers = os.environ['KSTREAM_BROKERS']
    java = compile_peer(work)
    written = collections.defaultdict(set)  # what kind of work -> how many records came out
    with Topics(raw_loop) as topics:
        source, empty = topics.fill('in', TOPIC_RECORDS), topics.create('empty')

        def to_topic(kind, measure):
            sink = topics.create('out')
            run = measure(sink)
            written[kind].add(topics.count(sink))
            topics.delete(sink)
            return run

        def ours(topic, sink):
            group = f'{sink}-{time.monotonic_ns()}'
            return execute([tools / 'kstream-filter', '-q', '-b', brokers, '-i', topic, '-o', sink,
                            '-G', group, '-e', FILTER])

        def kstream():
            return to_topic('filter', lambda sink: ours(source, sink))

        def raw():
            return to_topic('copy', lambda sink: read_figures(execute(
                [raw_loop, 'copy', source, sink, str(TOPIC_RECORDS)], capture=True)))

        def kafka_streams(mode):
            with tempfile.TemporaryDirectory() as state:
                return to_topic(mode, lambda sink: read_figures(execute(
                    [*java, mode, source, sink, str(TOPIC_RECORDS)], capture=True,
                    env={'STATE_DIR': state})))

        def pipe():
            return to_topic('pipe', lambda sink: execute(
                ['kcat', '-C', '-q', '-b', brokers, '-t', source, '-o', 'beginning',
                 '-c', str(PIPE_RECORDS)],
                ['jq', '-c', f'select({FILTER})'],
                ['kcat', '-P', '-b', brokers, '-t', sink]))

        idle = [to_topic('idle', lambda sink: ours(empty, sink)) for _ in range(3)]
        idle_wall = statistics.median(run.wall for run in idle)
        idle_cpu = statistics.median(run.cpu for run in idle)

        def kstream_net():
            run = kstream()
            return Run(run.wall - idle_wall, run.cpu - idle_cpu, run.rss)

        contenders = [
            Contender('kstream-filter', TOPIC_RECORDS, kstream_net, ours=True),
            Contender('raw librdkafka loop (copy)', TOPIC_RECORDS, raw),
            Contender('Kafka Streams (copy)', TOPIC_RECORDS, lambda: kafka_streams('copy')),
            Contender('Kafka Streams', TOPIC_RECORDS, lambda: kafka_streams('filter')),
            Contender('kcat | jq | kcat', PIPE_RECORDS, pipe),
        ]
        take_turns(contenders, rounds)
        table.add(f'topic to topic: `{FILTER}`', contenders)
    if len(written['filter']) != 1:
        die(f'ours and Kafka Streams did not write the same number of records: {written["filter"]}')
    if written['copy'] != {TOPIC_RECORDS}:
        die(f'a copy of {TOPIC_RECORDS} records wrote {written["copy"]}')
    return (f'On an empty topic kstream-filter takes {idle_wall * 1e3:.0f} ms and '
            f'{idle_cpu * 1e3:.0f} ms of CPU, taken off above.')
