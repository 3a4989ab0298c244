"""What all halves of the benchmark share: contenders that take turns, and the table of how they compare.

Machines differ and are noisy, so the figures that count are ratios within one run: contenders take
turns (A B C, A B C, ...) and each figure is the median of its turns. CPU time and peak memory are
what the kernel counted for the processes (wait4), whoever they are.
"""

import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
import time


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
    errors: str = ''


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
    return Run(wall, cpu, rss, output, errors)


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
            say(self.lines[-1])  # a run that breaks off later was not for nothing

    def print(self):
        print('\n'.join(self.lines), flush=True)
