// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The drawing of the stages. The server has placed them: the page only scales the cells of the terminal, so that both
// show the same. Boxes keep their elements while the drawing stays, so that an update changes only what is new.

import { byId, el, setAttribute, setText, svg } from './dom.js';
import { duration, moment, stageState, ticking } from './words.js';

// A cell in units of the drawing: one character of 13 px in a monospaced font is about this wide.
const across = 8;
const down = 19;
const strengths = { not_yet: 0, passed: 1, active: 2, undo: 3 };

export class Graph {
  #view = byId('graph');
  #pick;
  #drawing = null;
  #nodes = new Map();
  #edges = [];
  #lines = null;
  #key = '';
  #detail = null;
  #stages = new Map();
  #selected = '';
  #ticking = [];
  #longest = 1;
  // #back is the way that the cursor came, so that going back along an edge returns to where it came from.
  #back = [];

  // pick is called with the id of the stage that the user chose.
  constructor(pick) {
    this.#pick = pick;
    this.#view.addEventListener('click', (event) => {
      const node = event.target.closest('.node');
      if (node) this.#pick(node.dataset.stage);
    });
    new ResizeObserver(() => this.#fit()).observe(document.body);
  }

  // draw shows a deployment; null and one without stages show nothing.
  draw(detail, selected, now) {
    const graph = detail?.graph ?? null;
    this.#detail = detail;
    this.#stages = new Map((detail?.stages ?? []).map((stage) => [stage.id, stage]));
    this.#view.hidden = !graph;
    if (!graph) return this.#clear();
    const key = JSON.stringify([detail.id, graph.width, graph.height, graph.nodes,
      graph.edges.map((edge) => edge.lines), graph.rollback]);
    const fresh = key !== this.#key;
    if (fresh) this.#build(graph, key);
    setAttribute(this.#drawing, 'aria-label', `Stages of ${detail.deployment.app}`);
    this.#longest = Math.max(1, ...(detail.stages ?? []).map((stage) => stage.took_seconds));
    this.#ticking = [];
    this.#flow(graph.edges.map((edge) => edge.flow));
    for (const [id, node] of this.#nodes) this.#stage(id, node, selected, now);
    if (fresh) this.#fit();
    if (fresh || selected !== this.#selected) this.#reveal(selected, fresh);
    this.#selected = selected;
  }

  #clear() {
    this.#view.replaceChildren();
    this.#drawing = null;
    this.#nodes.clear();
    this.#edges = [];
    this.#key = '';
  }

  #build(graph, key) {
    this.#key = key;
    const width = (Math.max(graph.width, Math.min(ruleWords(graph).length, 60)) + 1) * across;
    const height = graph.height * down;
    this.#edges = graph.edges.map((edge) => svg('path', { d: way(edge.lines) }));
    this.#lines = svg('g', { 'aria-hidden': 'true' });
    this.#nodes = new Map();
    for (const node of graph.nodes) if (!node.joint) this.#nodes.set(node.id, box(node));
    this.#drawing = svg('svg', {
      viewBox: `0 0 ${width} ${height}`, role: 'listbox', tabindex: '0', 'data-width': width, 'data-height': height,
    }, this.#lines, rule(graph), [...this.#nodes.values()].map((node) => node.group));
    this.#view.replaceChildren(this.#drawing);
  }

  // #flow draws the states of the edges, the weakest first, so that the strongest shows where several share a line.
  #flow(flows) {
    if (this.#lines.dataset.flows === flows.join()) return;
    this.#lines.dataset.flows = flows.join();
    flows.forEach((flow, i) => setAttribute(this.#edges[i], 'class', `edge ${flow}`));
    const order = flows.map((flow, i) => i).sort((a, b) => strengths[flows[a]] - strengths[flows[b]]);
    this.#lines.replaceChildren(...order.map((i) => this.#edges[i]));
  }

  // #fit scales the drawing to the room, within what stays readable; what is larger scrolls.
  #fit() {
    if (!this.#drawing) return;
    const { width, height } = this.#drawing.dataset;
    const base = parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;
    const style = getComputedStyle(this.#view);
    const room = this.#view.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const tall = window.innerHeight * 0.44;
    const least = window.matchMedia('(max-width: 860px)').matches ? 0.95 : 0.86;
    const scale = Math.max(least * base, Math.min(1.5 * base, room / width, tall / height));
    setAttribute(this.#drawing, 'width', Math.ceil(width * scale));
    setAttribute(this.#drawing, 'height', Math.ceil(height * scale));
  }

  #stage(id, node, selected, now) {
    const stage = this.#stages.get(id);
    if (!stage) return;
    const state = stageState(stage);
    const { group, sign, name, second, line, room } = node;
    setAttribute(group, 'class', `node ${stage.look} ${state.tone}${stage.rollback ? ' rollback' : ''}`);
    setAttribute(group, 'aria-selected', id === selected ? 'true' : 'false');
    setText(sign, state.sign);
    setText(name, cut(stage.label, room - 2));
    if (stage.ticks) this.#ticking.push({ stage, node });
    this.#second(stage, { second, line, room, node }, now);
    const needs = (stage.requires ?? []).map((need) => this.#stages.get(need)?.label ?? need);
    const label = [stage.label, state.word, stage.note, stage.ticks ? '' : tookWords(stage, now),
      needs.length > 0 ? `needs ${needs.join(', ')}` : 'needs nothing'].filter(Boolean).join(', ');
    // A label that ticks would be read again and again; it changes with the stage.
    const key = JSON.stringify([stage, needs]);
    if (group.dataset.key !== key) {
      group.dataset.key = key;
      setAttribute(group, 'aria-label', label);
      setText(node.title, [stage.label, state.word, stage.note].filter(Boolean).join(' · '));
    }
    if (id === selected) setAttribute(this.#drawing, 'aria-activedescendant', group.id);
  }

  // #second writes the second line of a box: what the server says in place of the duration, else that and its bar.
  #second(stage, { second, line, room }, now) {
    const ended = { skipped: 'skipped', cancelled: 'cancelled' }[stage.look];
    const took = tookWords(stage, now);
    const words = ended ?? (stage.short || took);
    setText(second, cut(words, room));
    const used = Math.max(4, words.length) + 1;
    const width = ended || stage.short || !took ? 0 : room - used;
    const x = parseFloat(second.getAttribute('x')) + used * across;
    const y = second.getAttribute('y');
    const share = Math.min(1, tookSeconds(stage, now) / this.#longest);
    setAttribute(line, 'd', width >= 3 ? `M${x} ${y}h${Math.max(3, width * across * share).toFixed(1)}` : null);
  }

  // tick draws the durations of what runs.
  tick(now) {
    for (const { stage, node } of this.#ticking) this.#second(stage, node, now);
  }

  #reveal(id, fresh) {
    const node = this.#nodes.get(id);
    if (!node) return;
    const scale = this.#drawing.getAttribute('width') / this.#drawing.dataset.width;
    const { x, y, width, height } = node.place;
    const see = (from, to, at, room) => (!fresh && from >= at && to <= at + room ? at : (from + to - room) / 2);
    const view = this.#view;
    view.scrollLeft = see(x * scale, (x + width) * scale, view.scrollLeft, view.clientWidth);
    view.scrollTop = see(y * scale, (y + height) * scale, view.scrollTop, view.clientHeight);
  }

  get drawing() { return this.#drawing; }

  // key takes a key of the drawing; it reports whether it was one.
  key(event) {
    const directions = {
      ArrowLeft: 'left', h: 'left', ArrowRight: 'right', l: 'right',
      ArrowUp: 'up', k: 'up', ArrowDown: 'down', j: 'down',
    };
    const ids = [...this.#nodes.keys()];
    if (directions[event.key]) this.#move(directions[event.key]);
    else if (['Home', 'g'].includes(event.key)) this.#go(ids[0]);
    else if (['End', 'G'].includes(event.key)) this.#go(ids.at(-1));
    else if (['n', 'N'].includes(event.key)) this.#problem(event.key === 'n' ? 1 : -1);
    else return false;
    return true;
  }

  #go(id) {
    if (id) this.#pick(id);
  }

  // #move goes along an edge to the left and right, and to the nearest box above and below.
  #move(direction) {
    const from = this.#nodes.get(this.#selected);
    if (!from) return this.#go([...this.#nodes.keys()][0]);
    const last = this.#back.at(-1);
    if (last?.at === this.#selected && last.direction === direction) {
      this.#back.pop();
      return this.#go(last.to);
    }
    const beside = { left: 'right', right: 'left' }[direction];
    const linked = beside ? this.#linked(direction) : [];
    const candidates = linked.length > 0 ? linked : [...this.#nodes.keys()].filter((id) => id !== this.#selected);
    const best = nearest(from.place, candidates.map((id) => [id, this.#nodes.get(id)?.place]), direction);
    if (!best) return;
    if (beside) this.#back = [...this.#back.slice(-15), { at: best, direction: beside, to: this.#selected }];
    this.#go(best);
  }

  #linked(direction) {
    if (direction === 'left') return this.#stages.get(this.#selected)?.requires ?? [];
    return (this.#detail.stages ?? []).filter((stage) => stage.requires?.includes(this.#selected))
      .map((stage) => stage.id);
  }

  #problem(step) {
    const ids = [...this.#nodes.keys()];
    const from = ids.indexOf(this.#selected);
    for (let i = 1; i <= ids.length; i++) {
      const id = ids[(from + step * i + ids.length * i) % ids.length];
      if (['failed', 'waiting'].includes(this.#stages.get(id)?.look)) return this.#go(id);
    }
  }
}

// nearest is the place that is next in a direction; what is off to the side counts twice.
function nearest(from, places, direction) {
  const middle = (place) => [place.x + place.width / 2, place.y + place.height / 2];
  const [x, y] = middle(from);
  let best = null;
  let least = Infinity;
  for (const [id, place] of places) {
    if (!place) continue;
    const [dx, dy] = [middle(place)[0] - x, middle(place)[1] - y];
    const along = { left: -dx, right: dx, up: -dy, down: dy }[direction];
    const off = Math.abs(direction === 'left' || direction === 'right' ? dy : dx);
    if (along > 1 && along + 2 * off < least) [best, least] = [id, along + 2 * off];
  }
  return best;
}

const middleX = (x) => (x + 0.5) * across;
const middleY = (y) => (y + 0.5) * down;

// way is the path of the lines of an edge. Lines that are one cell apart are joined.
function way(lines) {
  let path = '';
  let [x, y] = [NaN, NaN];
  for (const [x1, y1, x2, y2] of lines) {
    path += `${path ? 'L' : 'M'}${middleX(x1)} ${middleY(y1)}`;
    if (x1 !== x2 || y1 !== y2) path += `L${middleX(x2)} ${middleY(y2)}`;
    [x, y] = [x2, y2];
  }
  return Number.isNaN(x + y) ? '' : path;
}

let serial = 0;

// box makes the elements of a stage. A frame runs through the middles of the outer cells, as in a terminal.
function box(node) {
  const place = {
    x: middleX(node.x), y: middleY(node.y), width: (node.width - 1) * across, height: (node.height - 1) * down,
  };
  const left = (node.x + 2) * across;
  const sign = svg('text', { class: 'tone', x: left, y: middleY(node.y + 1) });
  const name = svg('text', { class: 'name', x: left + 2 * across, y: middleY(node.y + 1) });
  const second = svg('text', { class: 'second', x: left, y: middleY(node.y + 2) });
  const line = svg('path');
  const title = svg('title');
  const group = svg('g', { role: 'option', id: `node-${serial++}`, 'data-stage': node.id },
    title, svg('rect', { ...place, rx: 6 }), sign, name, second, line);
  return { group, sign, name, second, line, title, place, room: node.width - 4 };
}

// ruleWords name what is rolled back to, or what would be on a failure.
function ruleWords({ rollback }) {
  if (!rollback) return '';
  if (!rollback.began) return `↺ on failure: ${rollback.stages.join(', ')}`;
  return `↺ rollback${rollback.to ? ` to ${rollback.to.slice(0, 7)}` : ''}`;
}

// rule is the line about the stages of a rollback.
function rule(graph) {
  const { rollback, width } = graph;
  if (!rollback) return null;
  const words = ruleWords(graph);
  const y = middleY(rollback.y);
  return svg('g', { class: rollback.began ? 'rule' : 'rule before' },
    svg('text', { x: middleX(0), y }, cut(words, Math.max(width, 60))),
    rollback.began && svg('line', { x1: (words.length + 2) * across, y1: y, x2: width * across, y2: y }));
}

// tookSeconds is how long a stage has run.
function tookSeconds(stage, now) {
  const since = stage.ticks ? Math.max(0, now - moment(stage.at)) / 1000 : 0;
  return stage.took_seconds + (Number.isFinite(since) ? since : 0);
}

// tookWords is that in words; empty for a stage that has not begun.
export function tookWords(stage, now) {
  if (!stage.started_at) return '';
  return stage.ticks ? ticking(tookSeconds(stage, now) * 1000) : duration(stage.took_seconds * 1000);
}

// cut shortens a text to a number of characters.
function cut(text, most) {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, Math.max(0, most - 1)).join('')}…`;
}

// stageLink is a button that selects a stage.
export const stageLink = (stage, state, pick) => {
  const button = el('button', { type: 'button' }, el('span', { class: `state ${state.tone}` },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, state.sign)), ' ', stage.label);
  button.addEventListener('click', () => pick(stage.id));
  return button;
};
