// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The list of applications: worst first, filtered, and only the rows in view in the document.

import { byId, el, setAttribute, setText, show, signed } from './dom.js';
import { VirtualList } from './virtual.js';
import { count, deploymentEnded, shortHash } from './words.js';

// calm is how long the order stays after the last key or movement in the list: a row never moves under a cursor.
const calm = 10_000;

export class Applications {
  #model;
  #selection;
  #pick;
  #list = byId('applications-list');
  #filter = byId('filter');
  #virtual;
  #rows = [];
  #active = '';
  #touched = 0;
  #timer = 0;

  // pick is called with the id of the application that the user chose.
  constructor(model, selection, pick) {
    this.#model = model;
    this.#selection = selection;
    this.#pick = pick;
    this.#virtual = new VirtualList(this.#list, this.#list.firstElementChild, (i, row) => this.#row(i, row));
    this.#filter.addEventListener('input', () => this.#filtered());
    this.#list.addEventListener('click', (event) => {
      const row = event.target.closest('.application');
      if (row) this.#open(row.dataset.id);
    });
    for (const kind of ['pointermove', 'keydown', 'wheel']) {
      this.#list.addEventListener(kind, () => { this.#touched = Date.now(); }, { passive: true });
    }
  }

  // draw shows what the model and the selection say now.
  draw() {
    const all = this.#model.worstFirst();
    const filter = this.#filter.value.trim().toLowerCase();
    const shown = filter ? all.filter((application) => this.#matches(application, filter)) : all;
    this.#rows = this.#ordered(shown);
    setText(byId('applications-count'), filter ? `${shown.length} of ${all.length}` : `${all.length || ''}`);
    const empty = byId('applications-empty');
    show(empty, shown.length === 0);
    if (shown.length === 0) setText(empty, this.#nothing(all.length, filter));
    this.#virtual.setRows(this.#rows.length, this.#rowHeight());
    this.#virtual.render();
    this.#markActive();
  }

  #rowHeight() { return Math.round(3.4 * parseFloat(getComputedStyle(document.documentElement).fontSize)); }

  #nothing(total, filter) {
    if (filter) return `No match for “${filter}” in ${count(total, 'application')}; esc clears the filter`;
    if (!this.#model.synced) return 'Waiting for the environment';
    return 'No applications yet: commit one to the watched repository';
  }

  // #ordered keeps the order while the list is in use; new rows come last.
  #ordered(shown) {
    clearTimeout(this.#timer);
    const rest = this.#touched + calm - Date.now();
    if (rest <= 0 || this.#filter === document.activeElement) return shown;
    this.#timer = setTimeout(() => this.draw(), rest);
    const byId = new Map(shown.map((application) => [application.id, application]));
    const kept = this.#rows.map((row) => byId.get(row.id)).filter(Boolean);
    const keptIds = new Set(kept.map((row) => row.id));
    return [...kept, ...shown.filter((application) => !keptIds.has(application.id))];
  }

  #matches(application, filter) {
    const state = this.#model.stateOf(application);
    const labels = Object.entries(application.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    const words = [application.label, state.word, shortHash(application.commit), ...labels].join(' ').toLowerCase();
    return filter.split(/\s+/).every((word) => words.includes(word));
  }

  #row(index, known) {
    const application = this.#rows[index];
    const present = this.#model.present(application);
    const state = this.#model.stateOf(application);
    const acts = present && !deploymentEnded(present);
    const commit = shortHash(acts ? present.commit : application.commit);
    const selected = application.id === this.#selection.application;
    const stages = acts && present.stages_total > 0 ? [present.stages_ended, present.stages_total] : null;
    const key = JSON.stringify([application.id, application.label, state, commit, stages]);
    let row = known;
    if (!row || row.dataset.key !== key) {
      const words = stages ? `${state.word} ${stages[0]}/${stages[1]}` : state.word;
      row = el('div', {
        class: `row application ${state.tone}`, role: 'option', id: `application-${index}`, 'data-id': application.id,
        'data-key': key, title: application.label,
        'aria-label': [application.label, words, commit].filter(Boolean).join(', '),
      },
      el('span', { class: 'sign' }, state.sign), el('span', { class: 'label' }, application.label),
      el('span', { class: 'commit' }, commit),
      el('span', { class: 'words' }, el('span', { class: 'state' }, words), stages && bar(stages[0] / stages[1])));
    }
    setAttribute(row, 'aria-selected', selected ? 'true' : 'false');
    setAttribute(row, 'aria-posinset', index + 1);
    setAttribute(row, 'aria-setsize', this.#rows.length);
    row.classList.toggle('active', application.id === this.#active);
    return row;
  }

  #filtered() {
    this.#list.scrollTop = 0;
    this.#active = '';
    this.draw();
  }

  #open(id) {
    this.#active = id;
    this.#touched = Date.now();
    this.#pick(id);
  }

  #index() {
    const id = this.#active || this.#selection.application;
    return this.#rows.findIndex((row) => row.id === id);
  }

  #markActive() {
    const row = this.#list.querySelector('.active') ?? this.#list.querySelector('[aria-selected="true"]');
    setAttribute(this.#list, 'aria-activedescendant', row?.id ?? null);
  }

  // move puts the cursor on another row, to before or after where it is.
  move(steps) {
    const from = this.#index();
    this.#to(from < 0 ? 0 : from + steps);
  }

  #to(index) {
    if (this.#rows.length === 0) return;
    const at = Math.max(0, Math.min(this.#rows.length - 1, index));
    this.#active = this.#rows[at].id;
    this.#touched = Date.now();
    this.#virtual.reveal(at);
    this.#virtual.render();
    this.#markActive();
  }

  // key takes a key of the list; it reports whether it was one.
  key(event) {
    const page = Math.max(1, Math.floor(this.#list.clientHeight / this.#virtual.rowHeight) - 1);
    const actions = {
      ArrowDown: () => this.move(1), j: () => this.move(1), ArrowUp: () => this.move(-1), k: () => this.move(-1),
      PageDown: () => this.move(page), PageUp: () => this.move(-page),
      Home: () => this.#to(0), g: () => this.#to(0), End: () => this.#to(Infinity), G: () => this.#to(Infinity),
      Enter: () => this.#enter(), ' ': () => this.#enter(), n: () => this.#problem(1), N: () => this.#problem(-1),
    };
    const action = actions[event.key];
    action?.();
    return Boolean(action);
  }

  #enter() {
    const row = this.#rows[this.#index()];
    if (row) this.#open(row.id);
  }

  // #problem goes to the next row with a problem.
  #problem(step) {
    for (let i = this.#index() + step; i >= 0 && i < this.#rows.length; i += step) {
      if (this.#model.stateOf(this.#rows[i]).weight >= 5) return this.#to(i);
    }
  }

  get filter() { return this.#filter; }

  get list() { return this.#list; }

  // clearFilter reports whether there was one.
  clearFilter() {
    if (this.#filter.value === '') return false;
    this.#filter.value = '';
    this.#filtered();
    return true;
  }
}

// bar is how much of something is done, from 0 to 1; the words next to it say the same.
export function bar(share) {
  const filled = el('i');
  filled.style.width = `${Math.round(share * 100)}%`;
  return el('span', { class: 'bar', 'aria-hidden': 'true' }, filled);
}
