"""With state: counts by key in RocksDB, under both guarantees; restores; and more keys than memory holds."""

import os
import re
import shutil
import subprocess

from contest import Contender, die, say, take_turns
from counting import EOS, Counting
from peers import PARTITIONS, TOPIC_RECORDS, Topics, compile_peer

MANY_KEYS = 10_000_000
OFTEN = ('--commit-interval', '200ms')  # the default under exactly-once


def on_counts(counting, source, rounds, table):
    once = counting.kstream(source)
    peer = counting.kafka_streams(source, 'Kafka Streams')
    if not counting.exact:
        take_turns([once, peer], rounds)
        table.add('topic to topic: count by key, 100 000 keys', [once, peer])
        return 'This build does nothing exactly once.'
    often = counting.kstream(source, *OFTEN)
    exactly = [counting.kstream(source, *EOS),
               counting.kstream(source, *EOS, '--commit-interval', '1s')]
    exact_peer = counting.kafka_streams(source, 'Kafka Streams (exactly once, every 1 s)',
                                        GUARANTEE='exactly_once_v2')
    take_turns([once, often, *exactly, peer, exact_peer], rounds)
    table.add('topic to topic: count by key, 100 000 keys', [once, peer])
    table.add('topic to topic: the same, committed every 200 ms', [often])
    table.add('topic to topic: the same, exactly once', [*exactly, exact_peer])
    costs = ' and '.join(f'{100 * (1 - exact.rate / least.rate):.0f} % at {interval}' for exact, least, interval in
                         zip(exactly, (often, once), ('the default interval of 200 ms', '1 s')))
    return f'Beside at-least-once with the same interval, exactly once costs kstream-agg {costs} of its records/s.'


def on_restores(counting, rounds, table):
    """Both lose their directories again and again, and have them restored from their own changelogs."""
    topics = counting.topics
    source = topics.create('keys')
    say(f'filling a topic with {TOPIC_RECORDS:,} keys')
    subprocess.run([topics.raw_loop, 'keys', source, str(TOPIC_RECORDS)], check=True)
    sinks = {who: topics.create(f'restored-{who}') for who in ('ours', 'peer')}
    places = {who: counting.work / f'restored-{who}' for who in sinks}
    apps = {who: f'{sink}-app' for who, sink in sinks.items()}

    def ours():
        shutil.rmtree(places['ours'], ignore_errors=True)
        return counting.agg(source, sinks['ours'], app=apps['ours'], kept=places['ours'])

    def peer(mode):
        shutil.rmtree(places['peer'], ignore_errors=True)
        return counting.peer(mode, source, sinks['peer'], APP=apps['peer'], kept=places['peer'])

    def restored():
        # A run that finds nothing to count would end before it restores anything.
        for partition in range(int(PARTITIONS)):
            subprocess.run(['kcat', '-P', '-b', os.environ['KSTREAM_BROKERS'], '-t', source, '-K=',
                            '-p', str(partition)], input='one=more\n', text=True, check=True)
        run = ours()
        records = sum(int(n) for n in re.findall(r'^% restored store .*: (\d+) records$', run.errors, re.M))
        if records < TOPIC_RECORDS:
            die(f'{records} records were restored of {TOPIC_RECORDS}')
        return counting.less_idle(run)

    say('counting what is to be restored')
    ours()
    peer('count')
    contenders = [Contender('kstream-agg --count', TOPIC_RECORDS, restored, ours=True),
                  Contender('Kafka Streams', TOPIC_RECORDS, lambda: peer('restore'))]
    take_turns(contenders, rounds)
    table.add('restore of 2 000 000 keys', contenders)
    for place in places.values():
        shutil.rmtree(place)


def on_many_keys(counting, table):
    topics = counting.topics
    source = topics.create('many')
    say(f'filling a topic with {MANY_KEYS:,} keys')
    subprocess.run([topics.raw_loop, 'keys', source, str(MANY_KEYS)], check=True)
    contender = counting.kstream(source, '--memory', '256M', records=MANY_KEYS)
    take_turns([contender], 1)
    table.add('topic to topic: count by key, 10 000 000 keys, each once', [contender])


def on_states(tools, raw_loop, rounds, work, table):
    java = compile_peer(work)
    with Topics(raw_loop) as topics:
        counting = Counting(tools, java, topics, work)
        source = topics.fill('in', TOPIC_RECORDS)
        note = on_counts(counting, source, rounds, table)
        on_restores(counting, rounds, table)
        on_many_keys(counting, table)
    idle = counting.idle[()]
    return (f'{note} On an empty topic kstream-agg takes {idle.wall * 1e3:.0f} ms and '
            f'{idle.cpu * 1e3:.0f} ms of CPU, taken off above.')
