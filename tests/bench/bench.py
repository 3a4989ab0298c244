#!/usr/bin/env python3
"""Side by side: the tools and their peers do the same work on the same bytes, and one table says how
they compare.

On files the whole process is timed. On topics everybody is timed from the first record on: the raw
loop and Kafka Streams take the time themselves, and from ours is taken what the same command needs
on an empty topic (start, group, end). Kafka Streams stops its clock when it has read the last record,
before the last output is acknowledged; ours and the raw loop's include that.

usage: bench.py [--only files|cases|topics|states|windows|joins] [--rounds N] [--build DIR]
"""

import argparse
import datetime
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is

from cases import on_cases
from contest import Table, die
from files import on_files
from joins import on_joins
from peers import JARS, ROOT
from states import on_states
from topics import on_topics
from windows import on_windows


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
    parser.add_argument('--only', choices=('files', 'cases', 'topics', 'states', 'windows', 'joins'),
                        help='one part of it; files and cases need no broker')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/bench')
    arguments = parser.parse_args()
    tools, raw_loop = arguments.build / 'bin', arguments.build / 'bench/raw_loop'
    for program in (*(tools / f'kstream-{tool}' for tool in ('filter', 'map', 'agg', 'join', 'run')), raw_loop):
        if not program.exists():
            die(f'{program} is missing: run ./dev build bench')
    work = arguments.build / 'work'
    work.mkdir(exist_ok=True)
    table = Table()
    # With brokers in the environment the tools would take a path for a topic.
    brokers = os.environ.pop('KSTREAM_BROKERS', None)
    parts = {'files': on_files, 'cases': on_cases, 'topics': on_topics, 'states': on_states, 'windows': on_windows,
             'joins': on_joins}
    notes = []
    for name in [arguments.only] if arguments.only else parts:
        if name not in ('files', 'cases'):
            if not brokers:
                die('KSTREAM_BROKERS is not set: run ./dev bench')
            os.environ['KSTREAM_BROKERS'] = brokers
        notes.append(parts[name](tools, raw_loop, arguments.rounds, work, table))
    print(f'{machine()}; medians of {arguments.rounds} alternating rounds.\n')
    table.print()
    print()
    print('\n'.join(notes))


if __name__ == '__main__':
    main()
