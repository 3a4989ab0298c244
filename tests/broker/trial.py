#!/usr/bin/env python3
"""A trial of state: two processes count under load, and are killed, stalled, robbed of their directories
and cut off by restarts of the broker at random moments. What they counted must be the truth.

The stage re-keys its input, so every count has gone through a repartition topic: two sub-topologies, a
changelog, and records between them that can be lost or doubled. The broker is one of its own, since it
dies too. Each process has a state directory of its own, as on two hosts.

What happens at a moment:

    kill       kill -9, and the process is started again on its directory
    stall      SIGSTOP for longer than the session: the group gives its tasks away, and it wakes
    rob        kill -9, and its directory is lost
    leave      SIGTERM; it must end with 0
    restart    the broker is stopped as it should be, and started again
    crash      the broker is killed with -9, and started again

Afterwards the input is counted to its end, and these are held against what was fed:

- the last row of each user in the output, as a read_committed reader sees it;
- a restore into an empty directory: one record more of each user must give one more;
- the changelog: its last row of each user is the last of the output.

Under exactly-once all of them are the truth, and the rows of a user never go back. Under at-least-once
no count is below the truth.

Nobody may end untold: broker restarts, stalls and lost sessions are survived in the process. Only who
begins while the broker is down may give up after 30 s with 4, as its manual says, and is started again.

stdout has a summary of a few lines, stderr the moments. Everything wrong is told, one line each, and
the exit code is 1. The same seed gives the same moments, though not the same timing.

usage: trial.py --guarantee at-least-once|exactly-once [--seed N] [--moments N] [--records N] ...
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays as it is

from storm import began, say
from storm_checks import check_output

HERE = pathlib.Path(__file__).resolve().parent
PARTITIONS = 4
USERS = 50
SESSION_MS = 3000
LEAVE_LIMIT = 60  # seconds; a broker may be starting
COUNT_LIMIT = 120
NAMES = ('a', 'b')  # of the processes


class Broker:
    def __init__(self, directory):
        self.home = directory / 'broker'
        self.environment = {k: v for k, v in os.environ.items() if k != 'KSTREAM_BROKERS'}
        self.environment['KSTREAM_BROKER_HOME'] = str(self.home)
        # A port of its own: while this broker is down, another trial's must not take it.
        self.environment['KSTREAM_BROKER_PORT'] = str(19_200 + os.getpid() % 9_000)
        self.address = self._do('start')
        self.back_at = time.monotonic()  # from the last restart

    def _do(self, verb):
        done = subprocess.run([HERE / 'broker.sh', verb], env=self.environment, check=True, text=True,
                              stdout=subprocess.PIPE)
        return done.stdout.strip()

    def restart(self):
        self._do('restart')
        self.back_at = time.monotonic()

    def crash(self):
        os.kill(int((self.home / 'pid').read_text()), signal.SIGKILL)
        self.restart()

    def stop(self):
        self._do('stop')


class Counter:
    """A process of the application, started again and again under one name."""

    def __init__(self, name, setup):
        self.name = name
        self.command = setup.command(setup.directory / f'state-{name}')
        self.state = setup.directory / f'state-{name}'
        self.log = setup.directory / f'{name}.err'
        self.process = None
        self.began_at = 0
        self.wake_at = None

    def start(self):
        self.began_at = time.monotonic()
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = self.wake_at = None

    def last_words(self):
        return ' | '.join(self.log.read_text(errors='replace').splitlines()[-3:])


class Feeder(threading.Thread):
    """Writes records without a key, {"user":"u7","n":123}, and knows how many each user has.

    It feeds what the moments that have passed allow, and never pauses before the last.
    """

    def __init__(self, setup, records, seed):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.records = records
        self.limit = 0
        self.finish = False
        self.fed = 0
        self.truth = collections.Counter()
        # -E: a broker that is down is no end. Its restarts must not double what is fed, either.
        self.kcat = subprocess.Popen(['kcat', '-P', '-q', '-E', '-b', setup.brokers, '-t', setup.input,
                                      '-X', 'enable.idempotence=true', '-X', 'linger.ms=20'],
                                     stdin=subprocess.PIPE)

    def run(self):
        while self.fed < self.records:
            left = (self.records if self.finish else self.limit) - self.fed
            lines = []
            for n in range(self.fed, self.fed + max(left // 20, min(left, 5))):
                user = f'u{self.random.randrange(USERS)}'
                self.truth[user] += 1
                lines.append(f'{{"user":"{user}","n":{n}}}\n')
            self.kcat.stdin.write(''.join(lines).encode())
            self.kcat.stdin.flush()
            self.fed += len(lines)
            time.sleep(0.02)
        self.kcat.stdin.close()

    def end(self):
        """True when every record is in the topic."""
        self.finish = True
        self.join()
        return self.kcat.wait() == 0


class Setup:
    def __init__(self, arguments, brokers):
        self.directory = arguments.directory
        self.guarantee = arguments.guarantee
        self.brokers = brokers
        self.app = 'trial'
        self.input, self.output, self.changelog = 'in', 'out', 'trial-agg-changelog'
        for topic, partitions in ((self.input, PARTITIONS), (self.output, 1)):
            check_output([arguments.kafka_tool, brokers, 'create-topic', topic, str(partitions)])

    def command(self, state, *options):
        return ['kstream-agg', '-v', '-b', self.brokers, '-G', self.app, '-i', self.input,
                '-o', self.output, '--by', '.user', '--count', '--state-dir', str(state),
                '--guarantee', self.guarantee, '--commit-interval', '200ms', '-X',
                f'session.timeout.ms={SESSION_MS}', '-X', 'heartbeat.interval.ms=300', *options]

    def count_to_the_end(self, state):
        """Returns what was wrong, or None."""
        with open(self.directory / 'end.err', 'ab') as log:
            try:
                code = subprocess.run(self.command(state, '-e'), stdin=subprocess.DEVNULL, stderr=log,
                                      stdout=subprocess.DEVNULL, timeout=COUNT_LIMIT).returncode
            except subprocess.TimeoutExpired:
                return f'has not counted to the end in {COUNT_LIMIT} s'
        if code:
            words = (self.directory / 'end.err').read_text().splitlines()[-2:]
            return f'counting to the end gave {code}: {" | ".join(words)}'
        return None

    def rows(self, topic):
        """All rows (user, count), as a read_committed reader sees them."""
        out = check_output(['kcat', '-C', '-q', '-e', '-b', self.brokers, '-t', topic, '-o', 'beginning',
                            '-X', 'isolation.level=read_committed', '-f', '%k %s\n'])
        rows = (line.split(' ', 1) for line in out.splitlines())
        return [(user, json.loads(row)['count']) for user, row in rows]


class Trial:
    KINDS = ['kill'] * 4 + ['stall'] * 3 + ['rob', 'leave', 'restart', 'crash']

    def __init__(self, arguments, setup, broker):
        self.setup, self.broker = setup, broker
        self.moments = arguments.moments
        self.random = random.Random(arguments.seed)
        self.faults = []
        self.happened = collections.Counter()
        self.counters = [Counter(name, setup) for name in NAMES]
        self.feeder = Feeder(setup, arguments.records, arguments.seed)

    def fault(self, text):
        say(f'WRONG: {text}')
        self.faults.append(text)

    def run(self):
        for counter in self.counters:
            counter.start()
        self.feeder.start()
        for moment in range(self.moments):
            self.feeder.limit = self.feeder.records * (moment + 1) // self.moments
            self.pass_time(self.random.uniform(0.2, 2.5))
            kind = self.random.choice(self.KINDS)
            counter = self.random.choice(self.counters)
            self.happened[kind] += 1
            say(f'{kind} {"" if kind in ("restart", "crash") else counter.name}')
            getattr(self, kind)(counter)
        if not self.feeder.end():
            self.fault('kcat has not written all records')
        while any(c.wake_at for c in self.counters):
            self.pass_time(0.1)
        for counter in self.counters:
            self.leave(counter, again=False)
        if self.happened['given up'] > self.happened['restart'] + self.happened['crash']:
            self.fault('more have given up than there were restarts of the broker')

    def kill(self, counter):
        counter.kill()
        self.pass_time(self.random.uniform(0, 1))
        counter.start()

    def rob(self, counter):
        counter.kill()
        shutil.rmtree(counter.state, ignore_errors=True)
        counter.start()

    def stall(self, counter):
        counter.process.send_signal(signal.SIGSTOP)
        counter.wake_at = time.monotonic() + SESSION_MS / 1000 + self.random.uniform(0.5, 3)

    def leave(self, counter, again=True):
        if counter.wake_at:
            self.wake(counter)
        # Not before it hears signals.
        self.pass_time(counter.began_at + 2 - time.monotonic())
        counter.process.send_signal(signal.SIGTERM)
        try:
            code = counter.process.wait(LEAVE_LIMIT)
            # Who has hardly begun has not reached its broker, and says so.
            if code and not (code == 4 and 'had not answered' in counter.last_words()):
                self.fault(f'{counter.name}, told to leave, ended with {code}: {counter.last_words()}')
        except subprocess.TimeoutExpired:
            self.fault(f'{counter.name} was told to leave and has not: {counter.last_words()}')
            counter.kill()
        counter.process = None
        if again:
            counter.start()

    def restart(self, _):
        self.broker.restart()

    def crash(self, _):
        self.broker.crash()

    def wake(self, counter):
        say(f'{counter.name} wakes')
        counter.process.send_signal(signal.SIGCONT)
        counter.wake_at = None

    def pass_time(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for counter in self.counters:
                if counter.wake_at and time.monotonic() >= counter.wake_at:
                    self.wake(counter)
                if counter.process and (code := counter.process.poll()) is not None:
                    # At its start, before anything is read, and with no broker for a while.
                    began_without = (code == 4 and ': 0 read,' in counter.last_words() and
                                     self.broker.back_at > counter.began_at)
                    if began_without:
                        self.happened['given up'] += 1
                    else:
                        self.fault(f'{counter.name}, told nothing, ended with {code}: '
                                   f'{counter.last_words()}')
                    counter.start()
            time.sleep(0.02)

    def check(self):
        """Counts what is left, and holds the outcome against the truth."""
        truth = self.feeder.truth
        if wrong := self.setup.count_to_the_end(self.counters[0].state):
            self.fault(wrong)
            return
        self.compare('the output', self.setup.rows(self.setup.output), truth)
        self.compare('the changelog', self.setup.rows(self.setup.changelog), truth)
        last = dict(self.setup.rows(self.setup.output))
        if dict(self.setup.rows(self.setup.changelog)) != last:
            self.fault('the changelog and the output end with different rows')
        more = ''.join(f'{{"user":"u{n}","n":-1}}\n' for n in range(USERS))
        subprocess.run(['kcat', '-P', '-q', '-b', self.setup.brokers, '-t', self.setup.input],
                       input=more, text=True, check=True)
        if wrong := self.setup.count_to_the_end(self.setup.directory / 'state-empty'):
            self.fault(wrong)
            return
        restored = dict(self.setup.rows(self.setup.output))
        if restored != {f'u{n}': last.get(f'u{n}', 0) + 1 for n in range(USERS)}:
            self.fault('restored into an empty directory, one record more has not given one more')

    def compare(self, what, rows, truth):
        last = dict(rows)
        exact = self.setup.guarantee == 'exactly-once'
        wrong = {user: (last.get(user, 0), count) for user, count in truth.items()
                 if (last.get(user, 0) != count if exact else last.get(user, 0) < count)}
        if wrong:
            self.fault(f'{what}: {len(wrong)} counts are wrong (found, truth): '
                       f'{dict(list(wrong.items())[:5])}')
        if strange := set(last) - set(truth):
            self.fault(f'{what}: nobody fed {sorted(strange)[:5]}')
        before = collections.Counter()
        for user, count in rows if exact else ():
            if count < before[user]:
                self.fault(f'{what}: {user} goes back from {before[user]} to {count}')
                break
            before[user] = count
        over = sum(last[user] - count for user, count in truth.items() if last.get(user, 0) > count)
        print(f'{what}: {len(rows)} rows, {over} counted twice of {truth.total()}')

    def close(self):
        for process in [c.process for c in self.counters] + [self.feeder.kcat]:
            if process and process.poll() is None:
                process.kill()
                process.wait()


def main():
    parser = argparse.ArgumentParser(description='A trial of state.')
    parser.add_argument('--guarantee', required=True, choices=['at-least-once', 'exactly-once'])
    parser.add_argument('--kafka-tool', required=True)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument('--moments', type=int, default=30)
    parser.add_argument('--records', type=int, default=60_000)
    parser.add_argument('--directory', type=pathlib.Path, default=pathlib.Path('.'))
    arguments = parser.parse_args()
    arguments.directory = arguments.directory.resolve()
    print(f'seed {arguments.seed}', flush=True)
    broker = Broker(arguments.directory)
    try:
        setup = Setup(arguments, broker.address)
        with contextlib.closing(Trial(arguments, setup, broker)) as trial:
            trial.run()
            trial.check()
    finally:
        broker.stop()
    print('moments:', ', '.join(f'{n} {kind}' for kind, n in sorted(trial.happened.items())))
    print(f'{time.monotonic() - began:.0f} s')
    for fault in trial.faults:
        print(f'WRONG: {fault}')
    return 1 if trial.faults else 0


if __name__ == '__main__':
    sys.exit(main())
