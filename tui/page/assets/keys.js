// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The keys of the page: those of the terminal UI that change nothing. Help is made from the same lists.

import { byId, el, replace } from './dom.js';

const help = [
  ['Everywhere', [
    ['?', 'this help'], ['tab, shift+tab', 'next, previous part of the page'],
    ['1 … 6', 'applications, deployment, log, stage, plugins, environment'], ['t', 'history of the application'],
    ['/', 'filter the applications, or find in the log when the log has the focus'],
    ['f', 'follow: the newest deployment and its active stage'],
    ['esc', 'one step back: clear a filter, close, follow'],
  ]],
  ['Applications', [
    ['↑ ↓, k j', 'move'], ['g G, home end', 'first, last'], ['enter', 'show the application'],
    ['n N', 'next, previous with a problem'],
  ]],
  ['Graph', [
    ['← → h l', 'along an edge'], ['↑ ↓, k j', 'stage above, below'], ['g G, home end', 'first, last stage'],
    ['enter', 'log of the stage'], ['n N', 'next, previous that failed or waits'],
  ]],
  ['Log', [
    ['↑ ↓, k j, page up, page down', 'move'], ['g G, home end', 'beginning; end, and stay there'],
    ['n N', 'next, previous hit'], ['w', 'wrap long lines'],
  ]],
];

export class Keys {
  #app;

  // app has applications, graph, log, and the actions show(view), follow(), focusGraph().
  constructor(app) {
    this.#app = app;
    document.addEventListener('keydown', (event) => this.#pressed(event));
    byId('keys').addEventListener('click', () => this.help());
  }

  help() {
    replace(byId('help-body'), 'keys', () => help.map(([where, keys]) => [el('h3', { class: 'title' }, where),
      el('dl', {}, keys.map(([key, does]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, does)]).flat())]));
    if (!byId('help').open) byId('help').showModal();
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || byId('help').open) return;
    const taken = event.target.matches('input') ? this.#typing(event) : this.#acting(event);
    if (taken) event.preventDefault();
  }

  // #typing: while text is typed, letters type.
  #typing(event) {
    const { applications, log } = this.#app;
    const filtering = event.target === applications.filter;
    switch (event.key) {
      case 'Escape':
        if (filtering) {
          if (!applications.clearFilter()) applications.list.focus();
        } else if (!log.clearFind()) {
          log.view.focus();
        }
        return true;
      case 'Enter':
        if (filtering) applications.list.focus(); else log.hit(event.shiftKey ? -1 : 1);
        return filtering ? applications.key(event) : true;
      case 'ArrowDown': case 'ArrowUp':
        return filtering && applications.key(event);
    }
    return false;
  }

  #acting(event) {
    const { applications, graph, log } = this.#app;
    const within = (element) => element?.contains(event.target);
    if (within(graph.drawing)) {
      if (event.key === 'Enter') return this.#app.openLog();
      if (graph.key(event)) return this.#app.focusGraph();
    }
    if (within(log.view) && log.key(event)) return true;
    if (within(applications.list) && applications.key(event)) return true;
    return this.#everywhere(event, within(byId('log')));
  }

  #everywhere(event, inLog) {
    const { applications, log } = this.#app;
    const actions = {
      '?': () => this.help(), f: () => this.#app.follow(),
      1: () => { this.#app.show('applications'); applications.list.focus(); },
      2: () => this.#app.focusGraph(),
      3: () => { this.#app.show('log'); log.view.focus(); },
      4: () => this.#app.show('stage'), 5: () => this.#app.show('plugins'), 6: () => this.#app.show('environment'),
      t: () => this.#app.show('history'),
      '/': () => { (inLog ? log.find : applications.filter).focus(); },
      Escape: () => { if (!applications.clearFilter() && !log.clearFind()) this.#app.follow(); },
    };
    // Without a focus, the keys of lists are those of the applications.
    if (event.target === document.body && /^(Arrow(Up|Down)|[jkgGnN])$/.test(event.key)) {
      actions[event.key] = () => { applications.list.focus(); applications.key(event); };
    }
    actions[event.key]?.();
    return Boolean(actions[event.key]);
  }
}
