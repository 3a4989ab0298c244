#include "http/page.h"

namespace kstream::http {
namespace {

// Whatever the JSON says goes into the page as text, never as markup. A layer of the drawing is how
// far a node is from the sources; within it nodes keep the order of the file.
constexpr std::string_view kPage = R"page(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>kstream</title>
<style>
  :root { color-scheme: light dark; --line: #8888; --soft: #8882; --good: #2a8; --bad: #d33; --wait: #c80 }
  body { font: 14px/1.45 system-ui, sans-serif; margin: 1.2rem auto; max-width: 76rem; padding: 0 1rem }
  header { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: baseline }
  h1 { font-size: 1.25rem; margin: 0 } h2 { font-size: 1rem; margin: 1.4rem 0 .4rem }
  .pill { padding: .05rem .6rem; border-radius: 1rem; color: #fff; background: var(--wait) }
  .pill.good { background: var(--good) } .pill.bad { background: var(--bad) }
  #facts { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 }
  #facts div { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .9rem; min-width: 7rem }
  #facts b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums }
  #graph { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem }
  svg { display: block } svg text { font: 12px system-ui, sans-serif; fill: currentColor }
  svg .name { font-weight: 600 } svg .kind { opacity: .65 }
  svg rect { fill: var(--soft); stroke: var(--line) } svg path { fill: none; stroke: var(--line); stroke-width: 1.5 }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid var(--soft) }
  td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
  #trouble { color: var(--bad) } form { display: none; gap: .5rem }
</style>
<header>
  <h1 id="title">kstream</h1><span id="state" class="pill">…</span>
  <button id="steer" hidden></button><span id="trouble" role="status"></span>
</header>
<form id="ask"><input id="token" type="password" placeholder="token" autocomplete="off"><button>show</button></form>
<main hidden>
  <div id="facts"></div>
  <div id="graph"></div>
  <h2>Tasks</h2><table id="tasks"></table>
  <h2>Stores</h2><table id="stores"></table>
</main>
<script>
'use strict';
const at = id => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';
const number = n => n === null || n === undefined ? '–' : n.toLocaleString('en');
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
let token = sessionStorage.getItem('token') || '', drawn = '', paused = false;

function add(parent, name, attributes, text) {
  const one = parent.namespaceURI === SVG || name === 'svg'
      ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  return parent.appendChild(one);
}

async function call(path, method) {
  const headers = {Accept: 'application/json'};
  if (token) headers.Authorization = 'Bearer ' + token;
  const answer = await fetch(path, {method, headers});
  if (answer.status === 401) { at('ask').style.display = 'flex'; throw new Error('a token is needed'); }
  if (!answer.ok) throw new Error((await answer.text()).trim());
  at('ask').style.display = 'none';
  return answer.json();
}

function layers(nodes) {
  const depth = new Map();
  const of = (name, seen) => {
    if (depth.has(name)) return depth.get(name);
    const node = nodes.find(one => one.name === name);
    if (!node || seen.has(name)) return 0;
    const under = new Set(seen).add(name);
    const deep = Math.max(-1, ...node.from.map(parent => of(parent, under))) + 1;
    depth.set(name, deep);
    return deep;
  };
  const rows = [];
  for (const node of nodes) (rows[of(node.name, new Set())] ||= []).push(node);
  return rows;
}

// What a source reads: a place is shown as "topic orders".
function flow(node, tasks) {
  const topics = new Set((node.places || []).map(place => place.split(' ')[1]));
  let lag = null;
  if (node.kind !== 'source' && node.kind !== 'table') return '';
  for (const task of tasks) for (const one of task.partitions || []) {
    if (topics.has(one.topic) && one.lag !== null) lag = (lag || 0) + one.lag;
  }
  return lag === null ? '' : 'lag ' + number(lag);
}

function graph(nodes, tasks) {
  const wide = 190, high = 62, gapX = 70, gapY = 24, columns = layers(nodes), place = new Map();
  const tallest = Math.max(...columns.map(column => column.length));
  const svg = add(document.createElement('div'), 'svg', {
    width: columns.length * (wide + gapX) - gapX + 40, height: tallest * (high + gapY) - gapY + 40,
    role: 'img', 'aria-label': 'the topology'});
  columns.forEach((column, x) => column.forEach((node, y) => place.set(node.name, {
    x: 20 + x * (wide + gapX),
    y: 20 + y * (high + gapY) + (tallest - column.length) * (high + gapY) / 2})));
  for (const node of nodes) for (const parent of node.from) {
    const to = place.get(node.name), from = place.get(parent);
    if (!from) continue;
    const x = from.x + wide, y = from.y + high / 2, half = (to.x - x) / 2;
    add(svg, 'path', {d: `M${x} ${y} C${x + half} ${y} ${to.x - half} ${to.y + high / 2} ${to.x} ${to.y + high / 2}`});
  }
  for (const node of nodes) {
    const {x, y} = place.get(node.name), end = ['source', 'sink', 'table'].includes(node.kind);
    const group = add(svg, 'g', {'data-node': node.name});
    add(group, 'title', {}, [node.kind + ' ' + node.name, ...(node.places || []),
      ...(node.expressions || []).map(one => one.name + ': ' + one.text)].join('\n'));
    add(group, 'rect', {x, y, width: wide, height: high, rx: end ? high / 2 : 8});
    const line = (text, row, kind) =>
        add(group, 'text', {x: x + wide / 2, y: y + 18 + row * 17, 'text-anchor': 'middle', class: kind}, text);
    line(cut(node.name, 24), 0, 'name');
    line(cut([node.kind, ...(node.places || []).slice(0, 1)].join(' · '), 28), 1, 'kind');
    const says = flow(node, tasks) || ((node.expressions || [])[0] || {}).text || '';
    line(cut(says, 26), 2, 'says');
  }
  at('graph').replaceChildren(svg);
}

function table(id, head, rows) {
  const body = document.createElement('table');
  const line = (kind, cells) => {
    const row = add(body, 'tr');
    cells.forEach((cell, i) => add(row, kind, head[i].endsWith('#') ? {class: 'n'} : {}, cell));
  };
  line('th', head.map(name => name.replace('#', '')));
  for (const cells of rows) line('td', cells);
  if (!rows.length) add(add(body, 'tr'), 'td', {}, 'none here');
  body.id = id;
  at(id).replaceWith(body);
}

function show(all) {
  const now = all.status, name = all.topology || all.stage || 'kstream';
  document.title = name + ' – kstream';
  at('title').textContent = name + (all.app ? ' · ' + all.app : '');
  paused = now.paused;
  const state = at('state');
  state.textContent = paused ? 'paused' : now.ready ? 'running' : now.state.toLowerCase().replace('_', ' ');
  state.className = 'pill' + (now.state.includes('ERROR') ? ' bad' : now.ready && !paused ? ' good' : '');
  at('steer').hidden = false;
  at('steer').textContent = paused ? 'resume' : 'pause';
  const facts = document.createElement('div');
  for (const [label, value] of [
    ['read / s', number(now.read_per_second)], ['written / s', number(now.written_per_second)],
    ['lag', number(now.lag)], ['read', number(now.read)], ['written', number(now.written)],
    ['skipped', number(now.skipped)], ['dead letters', number(now.dead_letters)],
    ['up', Math.round(now.elapsed_ms / 1000) + ' s']]) {
    const box = add(facts, 'div');
    add(box, 'b', {}, value);
    add(box, 'span', {}, label);
  }
  facts.id = 'facts';
  at('facts').replaceWith(facts);
  const shape = JSON.stringify([all.nodes, now.tasks.map(task => task.partitions)]);
  if (all.nodes && shape !== drawn) graph(all.nodes, now.tasks);
  drawn = shape;
  table('tasks', ['task', 'thread#', 'state', 'stream time', 'waiting#', 'partition', 'position#', 'lag#'],
    now.tasks.flatMap(task => (task.partitions || [{}]).map((one, i) => [
      ...(i ? ['', '', '', '', ''] : [task.name, number(task.thread), task.state,
        task.stream_time === undefined ? '–' : new Date(task.stream_time).toISOString(), number(task.buffered)]),
      one.topic === undefined ? '–' : `${one.cluster ? one.cluster + ':' : ''}${one.topic}[${one.partition}]`,
      number(one.position), number(one.lag)])));
  table('stores', ['store', 'task#', 'state', 'changelog offset#'], now.stores.map(store => [
    store.store, number(store.task),
    store.remaining === undefined ? 'here' : `restoring, ${number(store.remaining)} to go`, number(store.offset)]));
  document.querySelector('main').hidden = false;
}

async function refresh() {
  try {
    show(await call('/topology', 'GET'));
    at('trouble').textContent = '';
  } catch (error) {
    at('trouble').textContent = error.message;
  }
}
at('steer').onclick = async () => {
  try { await call(paused ? '/resume' : '/pause', 'POST'); } catch (error) { at('trouble').textContent = error.message; }
  refresh();
};
at('ask').onsubmit = event => {
  event.preventDefault();
  token = at('token').value;
  sessionStorage.setItem('token', token);
  refresh();
};
refresh();
setInterval(refresh, 1000);
</script>
</html>
)page";

}  // namespace

std::string_view Page() { return kPage; }

}  // namespace kstream::http
