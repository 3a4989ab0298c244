"""What a rebalance storm left behind, and what must hold of it: see storm.py.

Each check yields faults, one line each. Tried by the examples in here: python3 -m doctest.
"""

import collections
import dataclasses
import itertools
import json
import pathlib
import re
import subprocess

SAMPLE = 25  # every so many ids, one comes out on stdout
# Seconds: records of two topics are not appended quite in the order of their times, and a member that
# has a pair for a moment may show samples of one topic alone.
APART_SLACK = 1.0


@dataclasses.dataclass
class Setup:
    brokers: str
    app: str
    topics: tuple
    output: str
    partitions: int
    session_ms: int
    directory: pathlib.Path


def check_output(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- Tasks ----------------------------------------------------------------------------------------

def fewest_moves(before, members):
    """Of the tasks with these owners, how many must move so that these members have even shares.

    >>> before = dict(enumerate('aaabbbcc'))
    >>> [fewest_moves(before, members) for members in ('abc', 'abcd', 'ab', 'ad')]
    [0, 2, 2, 5]
    """
    shares = sorted((list(before.values()).count(m) for m in members), reverse=True)
    quota, larger = divmod(len(before), len(members))
    kept = sum(min(share, quota + (i < larger)) for i, share in enumerate(shares))
    return len(before) - kept


TASK_LINE = re.compile(r'^% .*?\bthread (\d+): tasks((?: [+-]\S+)*) \(now (none|[^)]+)\)(?: \(lost\))?$')


@dataclasses.dataclass
class TaskChange:
    """`% thread 1: tasks +0_1 -0_3 (now 0_1 0_2)`, which a member logs at debug level."""
    thread: int
    added: list
    removed: list
    now: set

    @staticmethod
    def parse(line):
        """None for any other line.

        >>> TaskChange.parse('% thread 1: tasks +0_4 -0_1 -0_3 (now 0_2 0_4)').removed
        ['0_1', '0_3']
        >>> TaskChange.parse('% thread 0: tasks -0_1 (now none) (lost)').now
        set()
        >>> TaskChange.parse('% librdkafka: thread 0: tasks')
        """
        found = TASK_LINE.match(line)
        if not found:
            return None
        changes = found[2].split()
        return TaskChange(int(found[1]), [c[1:] for c in changes if c[0] == '+'],
                          [c[1:] for c in changes if c[0] == '-'],
                          set(found[3].split()) - {'none'})


class TaskLog:
    """The changes in one member's log, checked one after the other.

    >>> log = TaskLog('m', ['% thread 0: tasks +0_1 +0_2 (now 0_1 0_2)', '% else',
    ...                     '% thread 0: tasks -0_1 (now 0_1 0_2)'])
    >>> log.adopted, len(log.faults)
    (2, 1)
    """

    def __init__(self, name, lines):
        self.now = collections.defaultdict(set)  # thread -> tasks
        self.adopted = 0
        self.faults = []
        for line in lines:
            if change := TaskChange.parse(line):
                self._take(name, line.strip(), change)

    def _take(self, name, line, change):
        before = self.now[change.thread]
        if (before | set(change.added)) - set(change.removed) != change.now:
            self.faults.append(f'{name}: had {sorted(before)}, then says "{line}"')
        self.now[change.thread] = change.now
        self.adopted += len(change.added)


# ---- Records --------------------------------------------------------------------------------------

Sample = collections.namedtuple('Sample', 'topic partition offset time id')


def read_samples(member):
    """The records on a member's stdout; the last may be torn where it was killed."""
    samples = []
    for line in member.stdout.read_text().split('\n')[:-1]:
        topic, partition, offset, stamp, value = line.split(' ')
        samples.append(
            Sample(topic, int(partition), int(offset), int(stamp) / 1000, json.loads(value)['id']))
    return samples


def check_ids(setup, samples, records):
    """Yields faults, and at last the number of repeats."""
    times = collections.Counter()
    out = check_output(['kcat', '-C', '-q', '-e', '-b', setup.brokers, '-t', setup.output,
                        '-o', 'beginning', '-f', '%s\n'])
    times.update(int(n) for n in re.findall(r'^{"id":(\d+)}$', out, re.M))
    if sampled := [n for n in times if n % SAMPLE == 0]:
        yield f'{len(sampled)} records are in the topic and belong on stdout: {sampled[:5]}'
    times.update(s.id for of_member in samples.values() for s in of_member)
    missing = [n for n in range(records) if n not in times]
    if missing:
        yield f'{len(missing)} records are lost: {missing[:10]}'
    if strange := [n for n in times if not 0 <= n < records]:
        yield f'{len(strange)} ids that nobody wrote: {strange[:10]}'
    yield times.total() - len(times)


def find_pairs_apart(setup, samples):
    """Yields faults: records of a pair's one topic that others read while a member had the other.

    A member has a partition from one sample to the next, unless another member has any in between. The
    pair was apart when for longer than the slack all samples of the other partition are of others.

    >>> setup = Setup('', '', ('a', 'b'), '', 1, 0, None)
    >>> def read(topic, times):
    ...     return [Sample(topic, 0, time, time, 0) for time in times]
    >>> together = {'m': read('a', range(9)) + read('b', range(9)), 'n': read('b', range(9, 19))}
    >>> list(find_pairs_apart(setup, together))
    []
    >>> apart = together | {'m': read('a', range(19)) + read('b', range(9))}
    >>> next(find_pairs_apart(setup, apart))
    "m had a[0], and ['n'] read 8 samples of b[0] meanwhile"
    >>> moment = {'m': read('a', range(19)) + read('b', [*range(9), *range(10, 19)]), 'n': read('b', [9])}
    >>> list(find_pairs_apart(setup, moment))
    []
    """
    readers = collections.defaultdict(set)  # (topic, partition, offset) -> names
    places = collections.defaultdict(list)  # (topic, partition) -> all samples, by offset
    for name, of_member in samples.items():
        for s in of_member:
            place = (s.topic, s.partition, s.offset)
            if place not in readers:
                places[place[:2]].append(s)
            readers[place].add(name)
    for of_place in places.values():
        of_place.sort(key=lambda s: s.offset)
    for partition in range(setup.partitions):
        for mine, other in (setup.topics, setup.topics[::-1]):
            for name in samples:
                for first, last in runs(places[mine, partition], readers, name):
                    meanwhile = (s for s in places[other, partition]
                                 if first + APART_SLACK < s.time < last - APART_SLACK)
                    for together, group in itertools.groupby(
                            meanwhile, lambda s: name in readers[other, partition, s.offset]):
                        group = list(group)
                        if not together and group[-1].time - group[0].time > APART_SLACK:
                            who = readers[other, partition, group[0].offset]
                            yield (f'{name} had {mine}[{partition}], and {sorted(who)} read '
                                   f'{len(group)} samples of {other}[{partition}] meanwhile')


def runs(of_place, readers, name):
    """Yields from when to when a member had the partition, by the times of its records."""
    first = last = None
    for s in of_place:
        if name in readers[s.topic, s.partition, s.offset]:
            first, last = first if first is not None else s.time, s.time
        elif first is not None:
            yield first, last
            first = None
    if first is not None:
        yield first, last


def check_task_logs(storm):
    """Yields faults, and at last the number of tasks that were adopted in all."""
    adopted, at_the_end = 0, collections.Counter()
    for member in storm.members:
        log = TaskLog(member.name, member.log_lines())
        yield from log.faults
        adopted += log.adopted
        owned = [task for tasks in log.now.values() for task in tasks]
        if len(owned) != len(set(owned)):
            yield f'{member.name}: a task in two threads: {sorted(owned)}'
    if adopted < storm.setup.partitions:
        yield f'the members have logged {adopted} tasks, of {storm.setup.partitions} that there are'
    yield adopted
