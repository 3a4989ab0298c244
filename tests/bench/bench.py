#!/usr/bin/env python3
"""Side by side: the tools and their peers do the same work on the same bytes, and one table says how
they compare.

Machines differ and are noisy, so the figures that count are ratios within one run: contenders take
turns (A B C, A B C, ...) and each figure is the median of its turns. CPU time and peak memory are
what the kernel counted for the processes (wait4), whoever they are.

On files the whole process is timed. On topics everybody is timed from the first record on: the raw
loop and Kafka Streams take the time themselves, and from ours is taken what the same command needs
on an empty topic (start, group, end). Kafka Streams stops its clock when it has read the last record,
before the last output is acknowledged; ours and the raw loop's include that.

usage: bench.py [--file-only] [--rounds N] [--build DIR]
"""

import argparse
import collections
import dataclasses
import datetime
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
JARS = ROOT / 'build/broker/libs'
SOURCE = ROOT / 'tests/bench/KafkaStreamsPeer.java'
FILTER = '.amount > 500'
FILE_RECORDS = 500_000
SLICE_RECORDS = 100_000  # for what takes seconds on the whole file
TOPIC_RECORDS = 2_000_000
PIPE_RECORDS = 300_000
PARTITIONS = '4'


def say(text):
    print(f'% {text}', file=sys.stderr, flush=True)


def die(text):
    sys.exit(f'bench.py: error: {text}')


@dataclasses.dataclass
class Run:
    """One turn: seconds, seconds, bytes."""
    wall: float
    cpu: float
    rss: int
    output: str = ''


@dataclasses.dataclass
class Contender:
    """A pipeline of commands that works on `records` records; `measure` runs it once."""
    name: str
    records: int
    measure: object
    ours: bool = False
    runs: list = dataclasses.field(default_factory=list)

    def median(self, figure):
        return statistics.median(getattr(run, figure) for run in self.runs)

    @property
    def rate(self):
        return self.records / self.median('wall')

    @property
    def cpu_per_million(self):
        return self.median('cpu') / self.records * 1e6


def execute(*commands, stdin=None, capture=False, env=None):
    """Runs a pipeline to its end; any failure ends the benchmark."""
    sink = tempfile.TemporaryFile() if capture else subprocess.DEVNULL
    start = time.perf_counter()
    processes, source = [], stdin or subprocess.DEVNULL
    for command in commands:
        last = len(processes) == len(commands) - 1
        process = subprocess.Popen(command, stdin=source, stdout=sink if last else subprocess.PIPE,
                                   stderr=subprocess.PIPE if last and len(commands) == 1 else None,
                                   env={**os.environ, **(env or {})})
        if processes:
            source.close()
        source = process.stdout
        processes.append(process)
    errors = processes[-1].stderr.read().decode() if processes[-1].stderr else ''
    cpu = rss = 0
    for command, process in zip(commands, processes):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            die(f'{" ".join(map(str, command))} ended with {process.returncode}\n{errors}')
        cpu += usage.ru_utime + usage.ru_stime
        rss += usage.ru_maxrss * 1024
    wall = time.perf_counter() - start
    output = ''
    if capture:
        sink.seek(0)
        output = sink.read().decode()
    return Run(wall, cpu, rss, output)


# A run shorter than this still pays for what ran before it (cold caches, a sleeping core): the second of
# two in a row counts, whoever's it is.
SHORT_SECONDS = 1


def take_turns(contenders, rounds):
    for number in range(rounds):
        for contender in contenders:
            say(f'round {number + 1} of {rounds}: {contender.name}')
            run = contender.measure()
            if run.wall < SHORT_SECONDS:
                run = contender.measure()
            contender.runs.append(run)


class Table:

    def __init__(self):
        self.lines = ['| work | program | records/s | CPU s per million | peak MB '
                      '| kstream is faster by | its CPU against kstream |',
                      '|---|---|--:|--:|--:|--:|--:|']

    def add(self, work, contenders):
        """A row for each; peers are held against every one of ours, in the order given."""
        ours = [contender for contender in contenders if contender.ours]

        def against_ours(contender, ratio):
            return '' if contender.ours else ' / '.join(f'{ratio(our):.2f}' for our in ours)

        for it in contenders:
            cells = [work, it.name, f'{it.rate:,.0f}', f'{it.cpu_per_million:.2f}',
                     f'{it.median("rss") / 1e6:.0f}',
                     against_ours(it, lambda our: our.rate / it.rate),
                     against_ours(it, lambda our: it.cpu_per_million / our.cpu_per_million)]
            self.lines.append(' | '.join(['', *(c.replace('|', '\\|') for c in cells), '']).strip())

    def print(self):
        print('\n'.join(self.lines), flush=True)


def on_files(tools, raw_loop, rounds, work, table):
    whole, part, one = work / 'orders.ndjson', work / 'slice.ndjson', work / 'one.ndjson'
    for path, count in ((whole, FILE_RECORDS), (part, SLICE_RECORDS), (one, 1)):
        with path.open('wb') as file:
            subprocess.run([raw_loop, 'lines', str(count)], stdout=file, check=True)

    def contender(name, records, *command, ours=False):
        path = {FILE_RECORDS: whole, SLICE_RECORDS: part, 1: one}[records]
        return Contender(name, records, lambda: execute([*command, path]), ours)

    def kstream(tool, expression, records, *flags):
        name = ' '.join([f'kstream-{tool}', *flags])
        return contender(name, records, tools / f'kstream-{tool}', '-q', *flags, expression, '-i',
                         ours=True)

    def jq(program, records):
        return contender('jq', records, 'jq', '-c', program)

    works = {
        f'file: `{FILTER}`': [
            kstream('filter', FILTER, FILE_RECORDS),
            kstream('filter', FILTER, FILE_RECORDS, '-j', '2'),
            jq(f'select({FILTER})', FILE_RECORDS),
            contender('Miller', SLICE_RECORDS, 'mlr', '--ijsonl', '--ojsonl', 'filter',
                      '$amount > 500'),
        ],
        'file: `{user, amount}`': [
            kstream('map', '{user, amount}', FILE_RECORDS),
            jq('{user, amount}', FILE_RECORDS),
        ],
        'file: `.user | test("^u1")` (libjq)': [
            kstream('filter', '.user | test("^u1")', SLICE_RECORDS),
            jq('select(.user | test("^u1"))', SLICE_RECORDS),
        ],
    }
    for title, contenders in works.items():
        take_turns(contenders, rounds)
        table.add(title, contenders)

    starts = [kstream('filter', FILTER, 1), jq(f'select({FILTER})', 1)]
    for contender in starts * 20:
        contender.runs.append(contender.measure())
    return 'One record in a file, from start to end: ' + ', '.join(
        f'{contender.name} {contender.median("wall") * 1e3:.1f} ms' for contender in starts) + '.'


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


def on_topics(tools, raw_loop, rounds, work, table):
    brokers = os.environ['KSTREAM_BROKERS']
    java = compile_peer(work)
    written = collections.defaultdict(set)  # what kind of work -> how many records came out
    with Topics(raw_loop) as topics:
        source, empty = topics.create('in'), topics.create('empty')
        say(f'filling a topic with {TOPIC_RECORDS:,} records')
        subprocess.run([raw_loop, 'fill', source, str(TOPIC_RECORDS)], check=True)

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


def machine():
    model = re.search(r'model name\s*: (.*)', pathlib.Path('/proc/cpuinfo').read_text())
    versions = [subprocess.run([name, '--version'], capture_output=True, text=True).stdout.split('\n')[0]
                for name in ('jq', 'mlr')]
    kafka = next((re.sub(r'.*-([\d.]+)\.jar', r'Kafka \1', jar.name)
                  for jar in JARS.glob('kafka-streams-[0-9]*.jar')), '')
    return ', '.join(filter(None, [datetime.date.today().isoformat(),
                                   model[1] if model else 'unknown CPU',
                                   f'{os.cpu_count()} cores', *versions, kafka]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--file-only', action='store_true', help='only what needs no broker')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/bench')
    arguments = parser.parse_args()
    tools, raw_loop = arguments.build / 'bin', arguments.build / 'bench/raw_loop'
    for program in (tools / 'kstream-filter', tools / 'kstream-map', raw_loop):
        if not program.exists():
            die(f'{program} is missing: run ./dev build bench')
    work = arguments.build / 'work'
    work.mkdir(exist_ok=True)
    table = Table()
    # With brokers in the environment the tools would take a path for a topic.
    brokers = os.environ.pop('KSTREAM_BROKERS', None)
    notes = [on_files(tools, raw_loop, arguments.rounds, work, table)]
    if not arguments.file_only:
        os.environ['KSTREAM_BROKERS'] = brokers
        notes.append(on_topics(tools, raw_loop, arguments.rounds, work, table))
    print(f'{machine()}; medians of {arguments.rounds} alternating rounds.\n')
    table.print()
    print()
    print('\n'.join(notes))


if __name__ == '__main__':
    main()
