"""Topics to work on, and the peers that work on them: everybody is timed from the first record on, by a
clock of their own or with what an empty topic costs taken off.
"""

import os
import pathlib
import re
import subprocess

from contest import Run, say

ROOT = pathlib.Path(__file__).resolve().parents[2]
JARS = ROOT / 'build/broker/libs'
SOURCE = ROOT / 'tests/bench/KafkaStreamsPeer.java'
TOPIC_RECORDS = 2_000_000
PARTITIONS = '4'


def read_figures(run):
    """The clock that a peer took itself, from its first record on."""
    figures = dict(word.split('=') for word in run.output.split())
    return Run(float(figures['wall_s']), float(figures['cpu_s']), run.rss)


def compile_peer(work):
    classes = work / 'classes'
    compiled = classes / 'KafkaStreamsPeer.class'
    if not compiled.exists() or compiled.stat().st_mtime < SOURCE.stat().st_mtime:
        say('compiling the Kafka Streams peer')
        subprocess.run(['javac', '-nowarn', '-cp', f'{JARS}/*', '-d', classes, SOURCE], check=True)
    return ['java', '-Xmx2g', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
            '-cp', f'{JARS}/*:{classes}', 'KafkaStreamsPeer']


class Topics:
    """The topics of one run, all with a prefix of its own; gone when it ends."""

    def __init__(self, raw_loop):
        self.raw_loop = raw_loop
        self.prefix = f'bench-{os.getpid()}'
        self.names = []

    def create(self, name):
        name = f'{self.prefix}-{name}'
        subprocess.run([self.raw_loop, 'create', name, PARTITIONS], check=True)
        self.names.append(name)
        return name

    def fill(self, name, records):
        """A topic of orders."""
        topic = self.create(name)
        say(f'filling a topic with {records:,} records')
        subprocess.run([self.raw_loop, 'fill', topic, str(records)], check=True)
        return topic

    def delete(self, *names):
        subprocess.run([self.raw_loop, 'delete', *names], check=True)
        self.names = [name for name in self.names if name not in names]

    def count(self, name):
        ends = [f'{name}:{partition}:-1' for partition in range(int(PARTITIONS))]
        answer = subprocess.run(
            ['kcat', '-Q', '-b', os.environ['KSTREAM_BROKERS'], *(w for e in ends for w in ('-t', e))],
            check=True, text=True, stdout=subprocess.PIPE).stdout
        return sum(int(offset) for offset in re.findall(r'offset (\d+)', answer))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.names:
            self.delete(*self.names)
