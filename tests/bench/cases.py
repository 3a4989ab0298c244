"""Cases for a topology, as CI runs them: how long many of them take, from start to end."""

import json

from contest import Contender, execute
from peers import ROOT

CASES = 200
# Word count has an expression that libjq runs; fraud a join of two stages, and a store.
EXAMPLES = ('word-count', 'fraud')


def on_cases(tools, _raw_loop, rounds, work, _table):
    told = []
    for name in EXAMPLES:
        topology = ROOT / f'share/kstream/examples/{name}.json'
        test = json.loads(topology.with_suffix('.test.json').read_text())
        cases = test['cases']
        test['cases'] = [{**cases[i % len(cases)], 'name': f'case {i}'} for i in range(CASES)]
        many = work / f'{name}.test.json'
        many.write_text(json.dumps(test))
        contender = Contender(name, CASES, lambda topology=topology, many=many: execute(
            [tools / 'kstream-run', topology, '-q', '--test', many]), ours=True)
        for _ in range(rounds):
            contender.runs.append(contender.measure())
        wall = contender.median('wall') * 1e3
        told.append(f'{name} {wall:.0f} ms ({wall / CASES:.1f} ms a case)')
    return f'{CASES} cases of kstream-run --test, from start to end: ' + ', '.join(told) + '.'
