"""Runs of kstream-agg and of Kafka Streams that count, whose counts are added up and held against what was
to be counted."""

import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from contest import Contender, Run, die, execute
from peers import TOPIC_RECORDS, read_figures

EOS = ('--guarantee', 'exactly-once')
SETTLE_SECONDS = 3


def read_counts(topic):
    """Key and count of each row; the count of a tombstone is 0."""
    kcat = subprocess.Popen(
        ['kcat', '-C', '-q', '-e', '-b', os.environ['KSTREAM_BROKERS'], '-t', topic, '-o', 'beginning',
         '-f', '%k %s\n'], stdout=subprocess.PIPE, text=True)
    for line in kcat.stdout:
        key, row = line.split(' ', 1)
        count = re.search(r'(\d+)}?$', row)
        yield key, int(count[1]) if count else 0
    if kcat.wait() != 0:
        die(f'kcat could not read {topic}')


def sum_of_table(topic):
    """What the latest counts of all keys add up to: the number of records that were counted."""
    return sum(dict(read_counts(topic)).values())


def sum_of_rows(topic):
    return sum(count for _, count in read_counts(topic))


def less(run, idle):
    return Run(run.wall - idle.wall, run.cpu - idle.cpu, run.rss, run.output, run.errors)


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

    def idle_of(self, measure):
        """What a run costs that finds nothing: the median of three."""
        runs = [self.with_sink(measure) for _ in range(3)]
        return Run(*(statistics.median(getattr(run, it) for run in runs) for it in ('wall', 'cpu', 'rss')))

    def _idle(self, flags):
        return self.idle_of(lambda sink: self.agg(self.empty, sink, flags))

    def with_sink(self, measure, name=None, total=None, sum_of=sum_of_table):
        """`total`: what the counts of the contender's first run must add up to."""
        sink = self.topics.create('out')
        time.sleep(SETTLE_SECONDS)  # what the broker has yet to do for the last run is not this one's to pay
        run = measure(sink)
        if total and name not in self.checked:
            self.checked.add(name)
            if (counted := sum_of(sink)) != total:
                die(f'{name} has counted {counted} records of {total}\n{run.errors}')
        self.topics.delete(sink)
        return run

    @contextlib.contextmanager
    def _state(self, kept):
        if kept:
            yield kept
        else:
            with tempfile.TemporaryDirectory(dir=self.work) as state:
                yield pathlib.Path(state)

    def run(self, tool, inputs, sink, flags, app=None, kept=None):
        with self._state(kept) as state:
            return execute([self.tools / tool, '-b', os.environ['KSTREAM_BROKERS'], *inputs, '-o', sink,
                            '-G', app or f'{sink}-{time.monotonic_ns()}', '--state-dir', state, '-e', *flags])

    def agg(self, source, sink, flags=(), app=None, kept=None):
        return self.run('kstream-agg', ('-i', source), sink, ('--count', *flags), app, kept)

    def less_idle(self, run, flags=()):
        return less(run, self.idle[EOS if EOS[0] in flags else ()])

    def kstream(self, source, *flags, records=TOPIC_RECORDS, overlaps=1, sum_of=sum_of_table):
        """`overlaps`: in how many windows each record is."""
        name = ' '.join(['kstream-agg --count', *flags])
        return Contender(name, records, lambda: self.less_idle(self.with_sink(
            lambda sink: self.agg(source, sink, flags), name, records * overlaps, sum_of), flags), ours=True)

    def peer(self, mode, source, sink, records=TOPIC_RECORDS, kept=None, **settings):
        with self._state(kept) as state:
            return read_figures(execute(
                [*self.java, mode, source, sink, str(records)], capture=True,
                env={'STATE_DIR': str(state), **settings}))

    def kafka_streams(self, source, name, mode='count', records=TOPIC_RECORDS, total=TOPIC_RECORDS, **settings):
        """`total` as above; none where the last rows may still be to come."""
        return Contender(name, records, lambda: self.with_sink(
            lambda sink: self.peer(mode, source, sink, records, **settings), f'{mode}: {name}', total))
