#!/usr/bin/env python3
"""Kafka Streams and kstream make the same tables of the same topics, and what they leave behind is
written down in one form, so that diff can compare it.

  peer.py run DIR [--seed N]     fills topics, lets both make their tables, and writes into DIR
      CASE.rows.WHO and CASE.changelog.WHO, where WHO is oracle, at-least-once or exactly-once, of
      windows CASE.final.WHO and of joins with tables CASE.table.WHO instead of the changelog; and
      `prefix`, that of the topics' names
  peer.py rows TOPIC             the table that a topic of JSON rows ends with, as in CASE.rows.WHO

A line is [key, value, timestamp, partition] of the latest record of a key, in order of keys; a
tombstone leaves none. Records are those that were committed. What is known to differ is in README.md,
and is levelled out here, in `state_of`, or avoided by the inputs.

kstream works in two goes, before and after the second half of the input is written. The stages of the
library lose their directories in between, the tools keep theirs; Kafka Streams does all in one.

Programs and places come from the environment: KSTREAM_BROKERS, PEER_BUILD (of kstream), PEER_JARS (of
Kafka).
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is

from peer_cases import (AGGREGATES, FINAL, JOINS, TABLE_AGGREGATES, TABLE_JOINS, TOOL_CASES, WINDOWS,
                        table_of_finals, table_of_pairs)

HERE = pathlib.Path(__file__).resolve().parent
GUARANTEES = ('at-least-once', 'exactly-once')
INPUTS = ('events', 'words', 'rows', 'people', 'timed', 'edges', 'left', 'right', 'facts', 'named', 'other')
INPUT_PARTITIONS = 4
OUTPUT_PARTITIONS = 3
RECORDS = 6_000  # in each input, in all

JSON_STATES = {*AGGREGATES, 'changes'}
TEXT_CASES = ('sentence', 'letters', 'largest', 'latest')
STAGE_CASES = (*TEXT_CASES, 'changes')  # in peer_stages.cc
KEYED_CASES = (*AGGREGATES, *STAGE_CASES)


def say(text):
    print(f'% {text}', file=sys.stderr, flush=True)


class Failure(Exception):
    pass


# ---- What a topic ends with ---------------------------------------------------------------------------

def read_topic(topic):
    """All committed records, as kcat prints them."""
    kcat = ['kcat', '-C', '-q', '-e', '-J', '-b', os.environ['KSTREAM_BROKERS'], '-t', topic,
            '-o', 'beginning', '-X', 'isolation.level=read_committed']
    lines = subprocess.run(kcat, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    return [json.loads(line) for line in lines]


def read_table(topic):
    """key -> the latest record; tombstones are left out."""
    table = {record['key']: record for record in read_topic(topic)}
    return {key: record for key, record in table.items() if record['payload'] is not None}


def write_down(table, value_of, time_of):
    """
    >>> record = {'key': 'k', 'payload': '{"b":1,"a":2}', 'ts': 5, 'partition': 0}
    >>> write_down({'k': record}, lambda r: json.loads(r['payload']), lambda r: r['ts'])
    '["k", {"a": 2, "b": 1}, 5, 0]\\n'
    """
    return ''.join(
        json.dumps([key, value_of(table[key]), time_of(table[key]), table[key]['partition']],
                   sort_keys=True, ensure_ascii=False) + '\n'
        for key in sorted(table))


def json_of(record):
    return json.loads(record['payload'])


def text_of(record):
    return record['payload']


def time_of(record):
    return record['ts']


def row_time_of(record):
    """In kstream's changelogs the event time is a header."""
    headers = record['headers']
    return int(dict(zip(headers[::2], headers[1::2]))['kstream.timestamp'])


def state_of(record):
    """Kafka Streams' oracle keeps plain numbers and one flat object, kstream an object of objects.

    >>> state_of({'payload': '{"count":3,"total":{"sum":7},"min":{"min":-1}}'})
    {'count': 3, 'total': 7, 'min': -1}
    >>> state_of({'payload': '3'})
    {'count': 3}
    """
    state = json.loads(record['payload'])
    if not isinstance(state, dict):
        return {'count': state}
    return {name: next(iter(part.values())) if isinstance(part, dict) else part
            for name, part in state.items()}


# ---- The run ------------------------------------------------------------------------------------------

class Oracle:
    """The one process of Kafka Streams; it is told what to do when."""

    def __init__(self, prefix, app, seed, state):
        jars = os.environ['PEER_JARS']
        classes = pathlib.Path(os.environ['PEER_BUILD']) / 'peer-classes'
        sources = sorted(HERE.glob('*.java'))
        compiled = classes / 'KafkaStreamsOracle.class'
        if not compiled.exists() or compiled.stat().st_mtime < max(it.stat().st_mtime for it in sources):
            say('compiling the oracle')
            subprocess.run(['javac', '-nowarn', '-cp', f'{jars}/*', '-d', classes, *sources], check=True)
        self.process = subprocess.Popen(
            ['java', '-Xmx512m', '-XX:TieredStopAtLevel=1',
             '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', f'{jars}/*:{classes}',
             'KafkaStreamsOracle', prefix, app, str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, 'STATE_DIR': str(state)})

    def tell(self, command):
        print(command, file=self.process.stdin, flush=True)

    def await_answer(self):
        if self.process.stdout.readline() != 'ok\n':
            raise Failure('the oracle failed: see above')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise Failure(f'the oracle ended with {self.process.returncode}')


class Trial:

    def __init__(self, seed, work):
        self.build = pathlib.Path(os.environ['PEER_BUILD'])
        self.prefix = f'peer-{os.getpid()}-{random.SystemRandom().randrange(1 << 32):08x}'
        self.seed = seed
        self.work = work
        self.oracle_app = f'{self.prefix}-oracle-app'

    def app(self, guarantee, case):
        return f'{self.prefix}-{guarantee}-app-{case if case in TOOL_CASES else "stages"}'

    def create_topics(self):
        tool = self.build.joinpath('tests', 'broker', 'kafka_tool')
        topics = {name: INPUT_PARTITIONS for name in INPUTS}
        topics |= {f'{who}-{case}': OUTPUT_PARTITIONS for who in ('oracle', *GUARANTEES)
                   for case in (*TOOL_CASES, *STAGE_CASES)}
        for name, partitions in topics.items():
            subprocess.run([tool, os.environ['KSTREAM_BROKERS'], 'create-topic',
                            f'{self.prefix}-{name}', str(partitions), 'retention.ms=-1'], check=True)

    def commands(self, guarantee, is_last):
        """Whatever makes a table, with the directory of its state."""
        state = self.work / 'state' / guarantee
        for name, case in TOOL_CASES.items():
            inputs = [word for flag, topic in case.inputs.items() for word in (flag, f'{self.prefix}-{topic}')]
            yield [self.build / 'bin' / case.tool, '-q', *inputs,
                   '-o', f'{self.prefix}-{guarantee}-{name}', '-G', self.app(guarantee, name),
                   '--store', name, '--state-dir', state / 'tools', '--guarantee', guarantee, '-e',
                   *case.flags, *(case.last_flags if is_last else ())]
        yield [self.build.joinpath('tests', 'peer', 'peer_stages'), self.prefix, self.app(guarantee, 'stages'),
               state / 'stages', guarantee]

    def make_tables(self, is_last):
        for guarantee in GUARANTEES:
            running = [(command, subprocess.Popen(command)) for command in self.commands(guarantee, is_last)]
            codes = [process.wait() for _, process in running]
            for (command, _), code in zip(running, codes):
                if code:
                    raise Failure(f'{" ".join(map(str, command))} ended with {code}')

    def write_results(self, into):
        for who in ('oracle', *GUARANTEES):
            for case in KEYED_CASES:
                rows = read_table(f'{self.prefix}-{who}-{case}')
                value = text_of if case in TEXT_CASES else json_of
                (into / f'{case}.rows.{who}').write_text(write_down(rows, value, time_of))
                app = self.oracle_app if who == 'oracle' else self.app(who, case)
                store = read_table(f'{app}-{case}-changelog')
                value = state_of if case in JSON_STATES else text_of
                (into / f'{case}.changelog.{who}').write_text(
                    write_down(store, value, time_of if who == 'oracle' else row_time_of))
            for case in (*TABLE_AGGREGATES, *WINDOWS):
                rows = read_table(f'{self.prefix}-{who}-{case}')
                (into / f'{case}.rows.{who}').write_text(write_down(rows, json_of, time_of))
                if case in WINDOWS and who != 'oracle':
                    finals = table_of_finals(case, read_topic(f'{self.prefix}-{who}-{case}{FINAL}'))
                    (into / f'{case}.final.{who}').write_text(write_down(finals, json_of, time_of))
            for case in (*JOINS, *TABLE_JOINS):
                pairs = table_of_pairs(read_topic(f'{self.prefix}-{who}-{case}'))
                (into / f'{case}.rows.{who}').write_text(write_down(pairs, json_of, time_of))
            for case in TABLE_JOINS:
                table = read_table(f'{self.prefix}-{who}-{case}')
                (into / f'{case}.table.{who}').write_text(write_down(table, json_of, time_of))

    def run(self, into):
        self.create_topics()
        with Oracle(self.prefix, self.oracle_app, self.seed, self.work / 'oracle') as oracle:
            say('the first half')
            oracle.tell(f'write {RECORDS // 2}')
            oracle.await_answer()
            oracle.tell('edges')
            oracle.await_answer()
            self.make_tables(is_last=False)
            say('the second half')
            for guarantee in GUARANTEES:
                shutil.rmtree(self.work / 'state' / guarantee / 'stages')
            oracle.tell(f'write {RECORDS - RECORDS // 2}')
            oracle.await_answer()
            oracle.tell('run')
            self.make_tables(is_last=True)
            oracle.await_answer()
        self.write_results(into)
        (into / 'prefix').write_text(self.prefix)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    verbs = parser.add_subparsers(dest='verb', required=True)
    run = verbs.add_parser('run')
    run.add_argument('into', type=pathlib.Path)
    run.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 31))
    rows = verbs.add_parser('rows')
    rows.add_argument('topic')
    arguments = parser.parse_args()
    if arguments.verb == 'rows':
        print(end=write_down(read_table(arguments.topic), json_of, time_of))
        return
    say(f'seed {arguments.seed}')
    with tempfile.TemporaryDirectory() as work:
        Trial(arguments.seed, pathlib.Path(work)).run(arguments.into)


if __name__ == '__main__':
    try:
        main()
    except Failure as failure:
        sys.exit(f'peer.py: error: {failure}')
