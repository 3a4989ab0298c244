"""With state: counts by key in RocksDB, under both guarantees; restores; and more keys than memory holds."""

import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from contest import Contender, Run, die, execute, say, take_turns
from peers import PARTITIONS, TOPIC_RECORDS, Topics, compile_peer, read_figures

MANY_KEYS = 10_000_000
EOS = ('--guarantee', 'exactly-once')
OFTEN = ('--commit-interval', '200ms')  # the default under exactly-once
SETTLE_SECONDS = 3


def sum_of_table(topic):
    """What the latest counts of all keys add up to: the number of records that were counted."""
    kcat = subprocess.Popen(
        ['kcat', '-C', '-q', '-e', '-b', os.environ['KSTREAM_BROKERS'], '-t', topic, '-o', 'beginning',
         '-f', '%k %s\n'], stdout=subprocess.PIPE, text=True)
    counts = dict(line.split(' ', 1) for line in kcat.stdout)
    if kcat.wait() != 0:
        die(f'kcat could not read {topic}')
    return sum(int(re.search(r'(\d+)}?$', count)[1]) for count in counts.values())


class Counting:
    """Runs of both sides, each with a topic, a group and a directory of its own unless they are given."""

    def __init__(self, tools, java, topics, work):
        self.tools, self.java, self.topics, self.work = tools, java, topics, work
        self.checked = set()
        self.empty = topics.create('empty')
        self.exact = self._knows(EOS)
        self.idle = {flags: self._idle(flags) for flags in ([(), EOS] if self.exact else [()])}

    def _knows(self, flags):
        """Whether this build can do it."""
        return subprocess.run([self.tools / 'kstream-agg', '--explain', '-b', os.environ['KSTREAM_BROKERS'],
                               '-i', self.empty, '-o', 'out', '-G', 'bench', '--count', *flags],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def _idle(self, flags):
        runs = [self._with_sink(lambda sink: self.agg(self.empty, sink, flags)) for _ in range(3)]
        return Run(*(statistics.median(getattr(run, it) for run in runs) for it in ('wall', 'cpu', 'rss')))

    def _with_sink(self, measure, records=None, name=None):
        """`records`: what the counts of the contender's first run must add up to."""
        sink = self.topics.create('out')
        time.sleep(SETTLE_SECONDS)  # what the broker has yet to do for the last run is not this one's to pay
        run = measure(sink)
        if records and name not in self.checked:
            self.checked.add(name)
            if (counted := sum_of_table(sink)) != records:
                die(f'{name} has counted {counted} records of {records}')
        self.topics.delete(sink)
        return run

    @contextlib.contextmanager
    def _state(self, kept):
        if kept:
            yield kept
        else:
            with tempfile.TemporaryDirectory(dir=self.work) as state:
                yield pathlib.Path(state)

    def agg(self, source, sink, flags=(), app=None, kept=None):
        with self._state(kept) as state:
            return execute([self.tools / 'kstream-agg', '-b', os.environ['KSTREAM_BROKERS'], '-i', source,
                            '-o', sink, '-G', app or f'{sink}-{time.monotonic_ns()}',
                            '--state-dir', state, '-e', '--count', *flags])

    def less_idle(self, run, flags=()):
        idle = self.idle[EOS if EOS[0] in flags else ()]
        return Run(run.wall - idle.wall, run.cpu - idle.cpu, run.rss, run.output, run.errors)

    def kstream(self, source, *flags, records=TOPIC_RECORDS):
        name = ' '.join(['kstream-agg --count', *flags])
        return Contender(name, records, lambda: self.less_idle(self._with_sink(
            lambda sink: self.agg(source, sink, flags), records, name), flags), ours=True)

    def peer(self, mode, source, sink, kept=None, **settings):
        with self._state(kept) as state:
            return read_figures(execute(
                [*self.java, mode, source, sink, str(TOPIC_RECORDS)], capture=True,
                env={'STATE_DIR': str(state), **settings}))

    def kafka_streams(self, source, name, **settings):
        return Contender(name, TOPIC_RECORDS, lambda: self._with_sink(
            lambda sink: self.peer('count', source, sink, **settings), TOPIC_RECORDS, name))


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
        source = topics.create('in')
        say(f'filling a topic with {TOPIC_RECORDS:,} records')
        subprocess.run([raw_loop, 'fill', source, str(TOPIC_RECORDS)], check=True)
        note = on_counts(counting, source, rounds, table)
        on_restores(counting, rounds, table)
        on_many_keys(counting, table)
    idle = counting.idle[()]
    return (f'{note} On an empty topic kstream-agg takes {idle.wall * 1e3:.0f} ms and '
            f'{idle.cpu * 1e3:.0f} ms of CPU, taken off above.')
