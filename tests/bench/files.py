"""On files: the tools and their peers, from start to end."""

import subprocess

from contest import Contender, execute, take_turns

FILTER = '.amount > 500'
FILE_RECORDS = 500_000
SLICE_RECORDS = 100_000  # for what takes seconds on the whole file


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

    def agg(*flags):
        return contender('kstream-agg', FILE_RECORDS, tools / 'kstream-agg', '-q', *flags, '-i', ours=True)

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
        'file: `--by .user --count`, 100 000 users': [
            agg('--by', '.user', '--count'),
            contender('Miller', FILE_RECORDS, 'mlr', '--ijsonl', '--ojsonl', 'count', '-g', 'user'),
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
