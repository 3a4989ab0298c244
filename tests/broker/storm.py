#!/usr/bin/env python3
"""A rebalance storm: members of one application come, go, are killed and stall at random, under load,
and nothing is lost.

The stage merges two topics with as many partitions, so a task is a pair of partitions. All its
records have an id; most come out in a topic, every 25th on the stdout of whichever process had it,
with its place. That says which process read which partition up to when, by the times of the records
themselves, and so whether the two of a pair were ever apart: a merged task reads both up to the same
time.

The group is watched from outside (kafka_tool members). It is *settled* when it is stable, has just
the members that are alive, and each lead partition has one owner, with even shares. Between two
settled moments lie two to four events; the tasks that have another owner afterwards are held against
the fewest that must: those of members that went, and those that a new member needs for its share.

Time is real here: a session has to run out for a killed or stalled member to be noticed. Nothing is
waited for longer than it takes, with limits far above.

Whoever is told to leave ends with 0. Who has stalled has lost its tasks when it wakes; it throws away
what it had begun and joins again by itself. Nobody ends untold.

Everything that is wrong is told, one line each, and the exit code is 1. stdout has a summary of a few
lines, stderr the events.

What is held against the outcome is in storm_checks.py.

usage: storm.py --brokers LIST --kafka-tool PATH [--seed N] [--events N] [--records N] ...
"""

import argparse
import collections
import contextlib
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

import storm_checks as checks
from storm_checks import SAMPLE, Setup, check_output

MOST_PROCESSES = 4
SETTLE_LIMIT = 60  # seconds; it takes about the session timeout
DRAIN_LIMIT = 120
LEAVE_LIMIT = 60
# Of the tasks that could stay where they are, so many may move. Not none: a member that comes and
# goes between two settled moments takes its share and leaves it to whoever has room, and on a busy
# machine there are more of those (3 % to 20 % were seen). An assignor that is not sticky, with some
# four members, moves three quarters.
MOST_RESTLESS = 0.4

began = time.monotonic()


def say(text):
    print(f'% {time.monotonic() - began:6.1f} s: {text}', file=sys.stderr, flush=True)


# ---- Members --------------------------------------------------------------------------------------

class Member:
    """A process of the stage."""

    def __init__(self, number, threads, setup):
        self.name = f'm{number:03}'  # also how its client ids begin
        self.threads = threads
        self.began_at = time.monotonic()
        self.stdout = setup.directory / f'{self.name}.out'
        self.stderr = setup.directory / f'{self.name}.err'
        self.wake_at = None  # stalled until then
        self.told_at = None  # to leave
        self.killed = False
        command = [
            'kstream-filter', '-v', '-b', setup.brokers, '-G', setup.app, '-j', str(threads),
            *(word for topic in setup.topics for word in ('-i', topic)), '-o', setup.output,
            '--else', '-', '-f', '%t %p %o %T %s\\n', '--commit-interval', '200ms',
            '-X', f'client.id={self.name}', '-X', f'session.timeout.ms={setup.session_ms}',
            '-X', 'heartbeat.interval.ms=300', f'.id % {SAMPLE} != 0'
        ]
        with open(self.stdout, 'wb') as out, open(self.stderr, 'wb') as err:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def running(self):
        return not (self.killed or self.told_at or self.wake_at)

    def log_lines(self):
        return self.stderr.read_text(errors='replace').splitlines()

    def last_words(self):
        return ' | '.join(self.log_lines()[-3:])


# ---- Load -----------------------------------------------------------------------------------------

class Feeder(threading.Thread):
    """Writes ids 0, 1, 2, ... to the topics in turn, never pausing before the end.

    Each slice is a fiftieth of what is left up to the limit, which rises with every event: so there
    is load however long an event takes.
    """
    SLICE_SECONDS = 0.02

    def __init__(self, setup, records):
        super().__init__(daemon=True)
        self.records = records
        self.limit = 0
        self.finish = False  # write all that is left at once
        self.fed = 0
        self.kcats = [
            subprocess.Popen(['kcat', '-P', '-q', '-b', setup.brokers, '-t', topic, '-K:'],
                             stdin=subprocess.PIPE) for topic in setup.topics
        ]

    def run(self):
        while self.fed < self.records:
            left = self.limit - self.fed
            self._write(self.records - self.fed if self.finish else min(left, max(left // 50, 10)))
            if not self.finish:
                time.sleep(self.SLICE_SECONDS)
        for kcat in self.kcats:
            kcat.stdin.close()

    def _write(self, count):
        slices = [[], []]
        for n in range(self.fed, self.fed + count):
            slices[n % 2].append(f'{n}:{{"id":{n}}}\n')
        for kcat, lines in zip(self.kcats, slices):
            kcat.stdin.write(''.join(lines).encode())
            kcat.stdin.flush()
        self.fed += count

    def end(self):
        """True when every record is in its topic."""
        self.finish = True
        self.join()
        return all([kcat.wait() == 0 for kcat in self.kcats])


# ---- The group, from outside ----------------------------------------------------------------------

class Watcher(threading.Thread):
    """Asks for the members of the group ten times a second."""

    def __init__(self, kafka_tool, setup):
        super().__init__(daemon=True)
        self.tool = subprocess.Popen([kafka_tool, setup.brokers, 'members', setup.app, '100'],
                                     stdout=subprocess.PIPE, text=True)
        self.log = setup.directory / 'members.ndjson'
        self.latest = None

    def run(self):
        with open(self.log, 'w') as log:
            for line in self.tool.stdout:
                log.write(line)
                self.latest = json.loads(line)


def owners_when_settled(snapshot, expected, partitions):
    """{lead partition: member id}, or None while the group is not settled.

    `expected` counts threads by the name of their process.
    """
    if snapshot is None or snapshot['state'] != 'Stable':
        return None
    if collections.Counter(m['client'][:4] for m in snapshot['members']) != expected:
        return None
    owners, shares = {}, []
    for member in snapshot['members']:
        owned = [(t, p) for t, numbers in member['partitions'].items() for p in numbers]
        shares.append(len(owned))
        for lead in owned:
            if lead in owners:
                return None
            owners[lead] = member['id']
    even = max(shares) - min(shares) <= 1
    return owners if even and len(owners) == partitions else None


# ---- The storm ------------------------------------------------------------------------------------

class Storm:
    def __init__(self, arguments, setup):
        self.setup = setup
        self.random = random.Random(arguments.seed)
        self.events = arguments.events
        self.kinds = arguments.kinds.split(',')
        self.members = []  # all there ever were
        self.faults = []
        self.counts = collections.Counter()
        self.owners = None  # at the last settled moment
        self.moves = []  # (tasks that moved, the fewest that must), between settled moments
        self.feeder = Feeder(setup, arguments.records)
        self.watcher = Watcher(arguments.kafka_tool, setup)

    def fault(self, text):
        say(f'WRONG: {text}')
        self.faults.append(text)

    def alive(self):
        return [m for m in self.members if not m.killed and not m.told_at]

    def running(self):
        return [m for m in self.members if m.running()]

    def run(self):
        self.feeder.start()
        self.watcher.start()
        for _ in range(2):
            self.join()
        self.settle()
        events = 0
        while events < self.events:
            for _ in range(min(self.random.randint(2, 4), self.events - events)):
                events += 1
                self.feeder.limit = self.feeder.records * events // self.events
                self.event()
                self.pass_time(self.random.uniform(0, 0.5))
            self.settle()
            if self.faults:
                break
        if not self.feeder.end():
            self.fault('kcat has not written all records')

    def event(self):
        kinds = []
        if len(self.alive()) < MOST_PROCESSES:
            kinds += ['join'] * 2
        if len(self.running()) > 1:
            kinds += ['leave', 'kill', 'stall']
        kinds = [kind for kind in kinds if kind in self.kinds]
        kind = self.random.choice(kinds or ['nothing'])
        self.counts[kind] += 1
        getattr(self, kind)()

    def nothing(self):
        """Members can neither come nor go."""

    def join(self):
        member = Member(len(self.members), self.random.randint(1, 2), self.setup)
        self.members.append(member)
        say(f'{member.name} joins, -j {member.threads}')

    def leave(self):
        # Who has hardly begun has not reached its broker, and says so with 4 when it is stopped.
        settled = [m for m in self.running() if time.monotonic() - m.began_at > 2]
        if not settled:
            return
        member = self.random.choice(settled)
        say(f'{member.name} is told to leave')
        member.process.send_signal(signal.SIGTERM)
        member.told_at = time.monotonic()

    def kill(self):
        member = self.random.choice(self.running())
        say(f'{member.name} is killed')
        member.process.kill()
        member.killed = True

    def stall(self):
        member = self.random.choice(self.running())
        seconds = self.setup.session_ms / 1000 + self.random.uniform(0.5, 1.5)
        say(f'{member.name} stalls for {seconds:.1f} s')
        member.process.send_signal(signal.SIGSTOP)
        member.wake_at = time.monotonic() + seconds

    def pass_time(self, seconds):
        end = time.monotonic() + seconds
        while True:
            self.look_after_members()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.05))

    def look_after_members(self):
        now = time.monotonic()
        for member in self.members:
            if member.wake_at and now >= member.wake_at:
                say(f'{member.name} wakes')
                member.process.send_signal(signal.SIGCONT)
                member.wake_at = None
            code = member.process.poll()
            if code is None:
                if member.told_at and now > member.told_at + LEAVE_LIMIT:
                    self.fault(f'{member.name} was told to leave and has not: {member.last_words()}')
                    member.process.kill()
                    member.killed, member.told_at = True, None
            elif not member.killed:
                if code != 0 or not member.told_at:
                    told = 'told to leave' if member.told_at else 'told nothing'
                    self.fault(f'{member.name}, {told}, ended with {code}: {member.last_words()}')
                member.killed = True  # done with

    def expected(self):
        return collections.Counter({m.name: m.threads for m in self.running()})

    def settle(self):
        """Waits until the group is settled with just those that are running, and counts the moves."""
        start = time.monotonic()
        asked_at = time.time()
        while True:
            self.pass_time(0.05)
            snapshot = self.watcher.latest
            if snapshot and snapshot['time'] > asked_at and not any(m.wake_at for m in self.members):
                if owners := owners_when_settled(snapshot, self.expected(), self.setup.partitions):
                    break
            if self.watcher.tool.poll() is not None:
                self.fault('kafka_tool does not watch the group any more')
                return
            if time.monotonic() > start + SETTLE_LIMIT:
                self.fault(f'not settled after {SETTLE_LIMIT} s, with {dict(self.expected())}: '
                           f'{json.dumps(snapshot)}')
                return
        ids = {m['id'] for m in snapshot['members']}
        if self.owners:
            moved = sum(self.owners[lead] != owner for lead, owner in owners.items())
            fewest = checks.fewest_moves(self.owners, ids)
            self.moves.append((moved, fewest))
            say(f'settled after {time.monotonic() - start:.1f} s: {moved} tasks moved, {fewest} must')
        self.owners = owners

    def drain(self):
        """Waits until every offset of the input is committed, while all members still run."""
        ends = {topic: self._log_ends(topic) for topic in self.setup.topics}
        end = time.monotonic() + DRAIN_LIMIT
        while any(self._committed(topic) != ends[topic] for topic in self.setup.topics):
            if time.monotonic() > end:
                for topic in self.setup.topics:
                    self.fault(f'{topic}: the ends are {ends[topic]}, '
                               f'committed is {self._committed(topic)}')
                return
            self.pass_time(0.2)

    def _log_ends(self, topic):
        words = [w for p in range(self.setup.partitions) for w in ('-t', f'{topic}:{p}:-1')]
        lines = check_output(['kcat', '-Q', '-b', self.setup.brokers, *words]).splitlines()
        ends = {int(p): offset for p, offset in re.findall(r'\[(\d+)\] offset (\d+)', '\n'.join(lines))}
        return [ends[p] for p in range(self.setup.partitions)]

    def _committed(self, topic):
        tool = self.watcher.tool.args[0]
        return check_output([tool, self.setup.brokers, 'committed', self.setup.app, topic]).split()

    def end_all(self):
        for member in self.running():
            member.process.send_signal(signal.SIGTERM)
            member.told_at = time.monotonic()
        while any(m.process.poll() is None for m in self.members):
            self.pass_time(0.05)
        self.look_after_members()

    def close(self):
        self.watcher.tool.kill()
        for process in [m.process for m in self.members] + self.feeder.kcats:
            if process.poll() is None:
                process.kill()
            process.wait()


def parse_arguments():
    parser = argparse.ArgumentParser(description='A rebalance storm.')
    parser.add_argument('--brokers', required=True)
    parser.add_argument('--kafka-tool', required=True)
    parser.add_argument('--app', default=f'storm-{time.time_ns()}', help='also begins the topics')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument('--events', type=int, default=60)
    parser.add_argument('--kinds', default='join,leave,kill,stall')
    parser.add_argument('--records', type=int, default=500_000)
    parser.add_argument('--partitions', type=int, default=12)
    parser.add_argument('--session-ms', type=int, default=3000)
    parser.add_argument('--directory', type=pathlib.Path, default=pathlib.Path('.'))
    parser.add_argument('--most-repeats', type=int, help='more are wrong')
    parser.add_argument('--tasks-logged', action='store_true', help='members log their tasks')
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    app = arguments.app
    setup = Setup(arguments.brokers, app, (f'{app}-a', f'{app}-b'), f'{app}-out',
                  arguments.partitions, arguments.session_ms, arguments.directory)
    print(f'seed {arguments.seed}', flush=True)
    for topic in (*setup.topics, setup.output):
        check_output([arguments.kafka_tool, setup.brokers, 'create-topic', topic,
                      str(setup.partitions)])
    storm = Storm(arguments, setup)
    with contextlib.closing(storm):
        storm.run()
        storm.drain()
        storm.end_all()
    samples = {m.name: checks.read_samples(m) for m in storm.members}
    *faults, repeats = checks.check_ids(setup, samples, arguments.records)
    faults += checks.find_pairs_apart(setup, samples)
    if arguments.most_repeats is not None and repeats > arguments.most_repeats:
        faults.append(f'{repeats} records are repeated, of {arguments.most_repeats} that may be')
    moved, fewest = sum(m for m, _ in storm.moves), sum(f for _, f in storm.moves)
    could_stay = len(storm.moves) * setup.partitions - fewest
    if moved - fewest > MOST_RESTLESS * could_stay:
        faults.append(f'{moved - fewest} tasks moved for nothing, of {could_stay} that could stay')
    print('events:', ', '.join(f'{n} {kind}' for kind, n in sorted(storm.counts.items())))
    print(f'{arguments.records} records, {repeats} repeats, {len(samples)} processes in all')
    print(f'{moved} tasks moved between {len(storm.moves)} settled moments, {fewest} had to, of '
          f'{setup.partitions} each time:', ' '.join(f'{m}/{f}' for m, f in storm.moves))
    if arguments.tasks_logged:
        *more, adopted = checks.check_task_logs(storm)
        faults += more
        print(f'{adopted} tasks adopted, intermediate owners included')
    print(f'{time.monotonic() - began:.0f} s')
    for fault in storm.faults + faults:
        print(f'WRONG: {fault}')
    return 1 if storm.faults or faults else 0


if __name__ == '__main__':
    sys.exit(main())
