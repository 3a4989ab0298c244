"""Windows: counts by key and window, of 100 000 keys and a record each millisecond; and memory, of which
many windows need no more than few.

What both sides are asked for alike is to keep the rows up to date. Rows that come once, when a window closes,
are the default here and `suppress` there; only ours come for the windows that are open at the end.
"""

from contest import take_turns
from counting import Counting, sum_of_rows
from peers import Topics, compile_peer

RECORDS = 1_000_000
HOPPING_RECORDS = 300_000  # each is in 6 windows
MEMORY_WINDOW = 100_000  # records, each a millisecond later
SMALL = ('--memory', '32M', '-X', 'in.queued.max.messages.kbytes=4096')


def on_updates(counting, source, few, rounds, table):
    for what, mode, window, topic, records, overlaps in (
            ('tumbling windows of 10 s', 'tumbling', 'tumbling:10s', source, RECORDS, 1),
            ('hopping windows, each record in 6', 'hopping', 'hopping:60s/10s', few, HOPPING_RECORDS, 6),
            ('sessions with gaps of 30 s', 'sessions', 'session:30s', source, RECORDS, 1)):
        ours = counting.kstream(topic, '--window', window, '--emit', 'update', records=records, overlaps=overlaps)
        peer = counting.kafka_streams(topic, 'Kafka Streams', mode, records, records * overlaps)
        take_turns([ours, peer], rounds)
        table.add(f'topic to topic: count by key, {what}', [ours, peer])


def on_finals(counting, source, rounds, table):
    ours = counting.kstream(source, '--window', 'tumbling:10s', '--close-at-end', records=RECORDS,
                            sum_of=sum_of_rows)
    peer = counting.kafka_streams(source, 'Kafka Streams (suppress)', 'tumbling', RECORDS, None, EMIT='final')
    take_turns([ours, peer], rounds)
    table.add('topic to topic: count by key, tumbling windows of 10 s, once each', [ours, peer])


def on_memory(counting, rounds, table):
    """What is read ahead and what stores may hold is kept small: a longer topic fills more of it, which is
    not the windows'."""
    peaks = {}
    for windows in (2, 20):
        records = windows * MEMORY_WINDOW
        source = counting.topics.fill(f'windows-{windows}', records)
        ours = counting.kstream(source, '--window', f'tumbling:{MEMORY_WINDOW}ms', '--close-at-end',
                                *SMALL, records=records, sum_of=sum_of_rows)
        take_turns([ours], rounds)
        table.add(f'topic to topic: count by key, {windows} windows of 100 000 records', [ours])
        peaks[windows] = ours.median('rss') / 1e6
    return (f'At its peak kstream-agg has {peaks[2]:.0f} MB after 2 windows of 100 000 records, and '
            f'{peaks[20]:.0f} MB after 20.')


def on_windows(tools, raw_loop, rounds, work, table):
    java = compile_peer(work)
    with Topics(raw_loop) as topics:
        counting = Counting(tools, java, topics, work)
        source, few = topics.fill('in', RECORDS), topics.fill('few', HOPPING_RECORDS)
        on_updates(counting, source, few, rounds, table)
        on_finals(counting, source, rounds, table)
        return on_memory(counting, rounds, table)
