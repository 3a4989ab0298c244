"""Joins: of two streams by key, within 10 s. Both have 100 000 keys, and a record each millisecond."""

import collections

from contest import Contender, die, take_turns
from counting import Counting, less
from peers import Topics, compile_peer

RECORDS = 1_000_000  # on each side
WITHIN = ('--within', '10s')


def on_streams(counting, rounds, table):
    topics = counting.topics
    sides = [topics.fill(name, RECORDS) for name in ('left', 'right')]
    pairs = collections.defaultdict(int)  # number of pairs -> how often that many came out

    def inputs(left, right):
        return ('-l', left, '-r', right)

    def counted(measure):
        def run(sink):
            figures = measure(sink)
            pairs[topics.count(sink)] += 1
            return figures
        return lambda: counting.with_sink(run)

    idle = counting.idle_of(
        lambda sink: counting.run('kstream-join', inputs(counting.empty, counting.empty), sink, WITHIN))
    ours = counted(lambda sink: less(counting.run('kstream-join', inputs(*sides), sink, WITHIN), idle))
    peer = counted(lambda sink: counting.peer('join', sides[0], sink, 2 * RECORDS, RIGHT=sides[1]))
    contenders = [Contender(' '.join(['kstream-join', *WITHIN]), 2 * RECORDS, ours, ours=True),
                  Contender('Kafka Streams', 2 * RECORDS, peer)]
    take_turns(contenders, rounds)
    table.add(f'topics to topic: join of 2 streams of {RECORDS:,} records', contenders)
    if len(pairs) != 1:
        die(f'not every run made as many pairs: {dict(pairs)}')
    return f'A join of two streams made {next(iter(pairs)):,} pairs each time.'


def on_joins(tools, raw_loop, rounds, work, table):
    java = compile_peer(work)
    with Topics(raw_loop) as topics:
        return on_streams(Counting(tools, java, topics, work), rounds, table)
