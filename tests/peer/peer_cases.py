"""What kstream-agg is asked for, as Kafka Streams is in KafkaStreamsOracle.java, TableAggregates.java and
WindowedTables.java.

Each table of windows is made twice: kept up to date, so that the last row of a key counts, and of `final`
rows, each of which comes once. Both are held against the one table of Kafka Streams. The tables of `edges`
are of what is known to differ: see README.md.
"""

import dataclasses
import json

TOTALS = ('--count', '--sum', 'total=.amount', '--min', '.amount', '--max', '.amount')


@dataclasses.dataclass(frozen=True)
class Case:
    inputs: dict  # flag -> topic
    flags: tuple
    last_flags: tuple = ()  # in the last go
    tool: str = 'kstream-agg'


EVENTS = {'-i': 'events'}
AGGREGATES = {
    'count': Case(EVENTS, ('--count',)),
    'summary': Case(EVENTS, (*TOTALS, '--first', '.amount', '--last', '.amount')),
    'users': Case(EVENTS, ('--by', '.user', *TOTALS)),
}

# Of tables: a row counts as it is now.
TABLE_AGGREGATES = {'table-users': Case({'-i': 'people'}, ('--table', '--by', '.user', *TOTALS))}

# In TimedRecords.java records are up to 8 s behind, or an hour: a grace of less than 8 s has many that are
# late. Sliding windows have more, since there late and not late is not all that they may be: README.md.
WINDOWS = {
    'tumbling': ('timed', 'tumbling:10s', '1s'),
    'hopping': ('timed', 'hopping:10s/3s', '2s'),
    'sliding': ('timed', 'sliding:2s', '9s'),
    'session': ('timed', 'session:1s', '1s'),
    'edge-sliding': ('edges', 'sliding:1s', '500ms'),
    'edge-session': ('edges', 'session:1s', '100ms'),
}
FINAL = '-final'


def cases_of_windows():
    cases = {}
    for name, (source, window, grace) in WINDOWS.items():
        flags = ('--window', window, '--grace', grace, *TOTALS)
        cases[name] = Case({'-i': source}, (*flags, '--emit', 'update'))
        cases[name + FINAL] = Case({'-i': source}, (*flags, '--emit', 'final'), ('--close-at-end',))
    return cases


# Of joins all records that come out are compared.
JOINS = {'pairs': Case({'-l': 'left', '-r': 'right'}, ('--within', '1s', '--grace', '20s'), tool='kstream-join')}

# With tables; of two of them the rows that they end with are compared too.
TABLE_JOINS = {
    'with-rows': Case({'-l': 'facts', '-r': 'named'}, ('--table', '--type', 'left'), tool='kstream-join'),
    'inner-rows': Case({'-l': 'named', '-r': 'other'}, ('--tables',), tool='kstream-join'),
    'outer-rows': Case({'-l': 'named', '-r': 'other'}, ('--tables', '--type', 'outer'), tool='kstream-join'),
}

TOOL_CASES = AGGREGATES | TABLE_AGGREGATES | cases_of_windows() | JOINS | TABLE_JOINS


def key_of_window(payload, has_end):
    """What a table of windows has as the key of such a row.

    >>> row = '{"key":"a","window_start":5,"window_end":7,"count":1}'
    >>> key_of_window(row, False), key_of_window(row, True)
    ('["a",5]', '["a",5,7]')
    """
    row = json.loads(payload)
    key = [row['key'], row['window_start'], *([row['window_end']] if has_end else [])]
    return json.dumps(key, separators=(',', ':'), ensure_ascii=False)


def table_of(records, key_of):
    """As a table; a record that comes again has a key of its own, which no table has.

    >>> list(table_of([{'payload': 'a'}, {'payload': 'b'}, {'payload': 'a'}], lambda it: it['payload']))
    ['a', 'b', 'a again']
    """
    table = {}
    for record in records:
        key = key_of(record)
        while key in table:
            key += ' again'
        table[key] = record
    return table


def table_of_finals(name, records):
    return table_of(records, lambda record: key_of_window(record['payload'], 'session' in name))


def table_of_pairs(records):
    """The values have a number each, so that a pair is there once. What is deleted is no pair."""
    pairs = [record for record in records if record['payload'] is not None]
    return table_of(pairs, lambda record: f'{record["key"]} {record["payload"]}')
