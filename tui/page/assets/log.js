// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The log of the selected stage: it stays at its end until the reader goes up, finds texts, and loads what was before.

import { byId, el, setAttribute, setText, show } from './dom.js';
import { LogLines } from './loglines.js';
import { VirtualList } from './virtual.js';
import { clock, count, lineState, moment } from './words.js';

export class Log {
  lines = new LogLines();
  #view = byId('lines');
  #find = byId('find');
  #virtual;
  #tail = true;
  #wrap = true;
  #found = [];
  #at = -1;
  #needle = '';
  #key = '';
  #lastTop = 0;
  #timer = 0;
  #frame = 0;

  constructor() {
    this.#virtual = new VirtualList(this.#view, this.#view.firstElementChild, (i, row) => this.#row(i, row));
    this.#view.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    this.#find.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.search(), 120);
    });
    byId('tail').addEventListener('click', () => this.setTail(!this.#tail));
    byId('wrap').addEventListener('click', () => this.toggleWrap());
    new ResizeObserver(() => this.#resized()).observe(this.#view);
  }

  // select shows the log of another stage.
  select(deployment, stage, label) {
    setText(byId('log-title'), label ? `Log of ${label}` : 'Log');
    if (this.lines.is(deployment, stage)) return;
    this.lines.begin(deployment, stage);
    this.#renew();
    this.setTail(true);
    this.#find.value = '';
    this.search();
  }

  take(log) {
    if (!this.lines.is(log.deployment, log.stage)) return;
    const dropped = this.lines.take(log);
    if (dropped) this.#renew();
    if (this.#needle) this.#findAgain();
    this.#frame ||= requestAnimationFrame(() => this.draw());
  }

  // #renew has all rows be drawn again, because their numbers belong to other lines.
  #renew() { this.#virtual.forget(); }

  draw() {
    this.#frame = 0;
    const { lines } = this;
    const empty = lines.lines.length === 0;
    show(byId('log-empty'), empty);
    setText(byId('log-empty'), this.#nothing());
    const total = lines.next - lines.first;
    const loaded = lines.from > lines.first ? ', go up for earlier ones' : '';
    const cut = lines.truncated ? ', the beginning is not kept' : '';
    const error = lines.error ? ` · ${lines.error}` : '';
    setText(byId('log-count'), empty ? '' : count(total, 'line') + loaded + cut + error);
    this.#measured();
    this.#virtual.setHeights(lines.tops, this.#rowHeight);
    if (this.#tail) this.#view.scrollTop = this.#view.scrollHeight;
    this.#virtual.render();
  }

  #nothing() {
    const { lines } = this;
    if (!lines.stage) return 'Select a stage in the drawing to read its log';
    if (lines.error) return lines.error;
    if (!lines.known) return 'Reading the log';
    return lines.complete ? 'This stage has written no lines' : 'No lines yet';
  }

  #rowHeight = 20;
  #columns = 0;

  // #measured finds out how many columns a row has, when that may have changed.
  #measured() {
    const width = this.#view.clientWidth;
    const font = getComputedStyle(this.#view).font;
    const key = `${width} ${font} ${this.#wrap}`;
    if (key === this.#key || width === 0) return;
    this.#key = key;
    this.#rowHeight = parseFloat(getComputedStyle(this.#view).lineHeight);
    const character = byId('probe').getBoundingClientRect().width / 100;
    const style = getComputedStyle(this.#view);
    const gaps = 2 * (window.matchMedia('(max-width: 860px)').matches ? 0.5 : 1);
    const room = width - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - (8 + 2 + gaps) * character;
    this.#columns = this.#wrap ? Math.max(10, Math.floor(room / character + 0.01)) : Infinity;
    this.lines.measure(this.#columns);
    this.#view.classList.toggle('long', !this.#wrap);
    this.#renew();
  }

  #resized() {
    if (this.lines.lines.length > 0) this.draw();
  }

  #scrolled() {
    const view = this.#view;
    const end = view.scrollTop + view.clientHeight >= view.scrollHeight - 2;
    // Only a reader goes up; the view itself moves down when lines come.
    if (!end && view.scrollTop < this.#lastTop - 1) this.setTail(false);
    else if (end && !this.#tail && view.scrollTop > this.#lastTop) this.setTail(true);
    this.#lastTop = view.scrollTop;
    if (view.scrollTop < view.clientHeight) this.#earlier();
  }

  async #earlier() {
    if (this.#tail && this.#view.scrollHeight > this.#view.clientHeight) return;
    const came = await this.lines.earlier();
    if (came === 0) return;
    this.#renew();
    if (this.#needle) this.#findAgain();
    const before = this.lines.tops[came] * this.#rowHeight;
    const at = this.#view.scrollTop;
    this.draw();
    this.#view.scrollTop = this.#lastTop = at + before;
    this.#virtual.render();
  }

  #row(index, known) {
    const line = this.lines.lines[index];
    const number = this.lines.from + index;
    const current = this.#found[this.#at] === number;
    const key = `${number} ${this.#needle} ${current}`;
    if (known?.dataset.key === key) return known;
    const state = lineState(line);
    const row = el('div', {
      class: `row line ${line.level} ${state?.tone ?? ''}${current ? ' current' : ''}`,
      'data-key': key, 'data-line': number,
    },
    el('span', { class: 'time' }, clock(moment(line.time))),
    el('span', { class: 'sign', role: state && 'img', 'aria-label': state?.word }, state?.sign ?? ''),
    el('span', { class: 'text' }, marked(line.text, this.#needle)));
    row.style.height = `${this.#virtual.top(index + 1) - this.#virtual.top(index)}px`;
    return row;
  }

  // setTail has the view stay at the end of the log, or where it is.
  setTail(tail) {
    this.#tail = tail;
    setAttribute(byId('tail'), 'aria-pressed', tail ? 'true' : 'false');
    if (!tail) return;
    this.#view.scrollTop = this.#view.scrollHeight;
    this.#lastTop = this.#view.scrollTop;
  }

  toggleWrap() {
    this.#wrap = !this.#wrap;
    setAttribute(byId('wrap'), 'aria-pressed', this.#wrap ? 'true' : 'false');
    const line = this.#virtual.at(this.#view.scrollTop);
    this.draw();
    if (!this.#tail) this.#view.scrollTop = this.#virtual.top(line);
  }

  get find() { return this.#find; }

  get view() { return this.#view; }

  search() {
    this.#needle = this.#find.value.toLowerCase();
    this.#at = -1;
    this.#findAgain();
    if (this.#found.length > 0) this.hit(-1);
    else this.draw();
  }

  #findAgain() {
    const current = this.#found[this.#at];
    this.#found = this.#needle ? this.lines.find(this.#needle) : [];
    this.#at = current === undefined ? -1 : this.#found.indexOf(current);
    this.#sayHits();
  }

  #sayHits() {
    const place = this.#at >= 0 ? `${this.#at + 1} of ` : '';
    const none = `no hit in ${count(this.lines.lines.length, 'line')}`;
    const words = this.#found.length > 0 ? place + count(this.#found.length, 'hit') : none;
    setText(byId('hits'), this.#needle ? words : '');
  }

  // hit goes to the next hit, or back; the first is the one nearest to the end of the view.
  hit(step) {
    if (this.#found.length === 0) return;
    const from = this.#at >= 0 ? this.#at : step > 0 ? -1 : this.#found.length;
    this.#at = (from + step + this.#found.length) % this.#found.length;
    this.setTail(false);
    this.#sayHits();
    this.#virtual.centre(this.#found[this.#at] - this.lines.from);
    this.#lastTop = this.#view.scrollTop;
    this.#virtual.render();
  }

  // clearFind reports whether there was a text to find.
  clearFind() {
    if (this.#find.value === '') return false;
    this.#find.value = '';
    this.search();
    return true;
  }

  // key takes a key of the log; it reports whether it was one.
  key(event) {
    const view = this.#view;
    const by = (rows) => { view.scrollTop += rows * this.#rowHeight; };
    const page = Math.max(1, Math.floor(view.clientHeight / this.#rowHeight) - 1);
    const actions = {
      ArrowDown: () => by(1), j: () => by(1), ArrowUp: () => by(-1), k: () => by(-1),
      PageDown: () => by(page), ' ': () => by(page), PageUp: () => by(-page),
      Home: () => { this.setTail(false); view.scrollTop = 0; }, g: () => { this.setTail(false); view.scrollTop = 0; },
      End: () => this.setTail(true), G: () => this.setTail(true),
      n: () => this.hit(1), N: () => this.hit(-1), w: () => this.toggleWrap(),
    };
    const action = actions[event.key];
    action?.();
    return Boolean(action);
  }
}

// marked is a text with what was looked for.
function marked(text, needle) {
  if (!needle) return [text];
  const parts = [];
  const low = text.toLowerCase();
  // Some characters change their length in lower case; then the places would be wrong.
  if (low.length !== text.length) return [text];
  let from = 0;
  for (let at = low.indexOf(needle); at >= 0 && parts.length < 200; at = low.indexOf(needle, from)) {
    parts.push(text.slice(from, at), el('mark', {}, text.slice(at, at + needle.length)));
    from = at + needle.length;
  }
  return [...parts, text.slice(from)];
}
