// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// A long list of which only the rows in view are in the document. Rows may have different heights; they are known
// without being drawn.

import { setAttribute } from './dom.js';

// overscan is how many pixels above and below the view are drawn, too, so that a quick scroll shows rows at once.
const overscan = 300;

export class VirtualList {
  #scroller;
  #canvas;
  #draw;
  #heights = null;
  #tops = [0];
  #height = 20;
  #count = 0;
  #drawn = new Map();
  #frame = 0;

  // scroller scrolls; canvas, its child, is as high as all rows. draw(index, row) fills a row, which is a new element
  // or one that was drawn before, and returns it.
  constructor(scroller, canvas, draw) {
    this.#scroller = scroller;
    this.#canvas = canvas;
    this.#draw = draw;
    scroller.addEventListener('scroll', () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  // setRows says how many rows there are, and that all are of one height.
  setRows(count, height) {
    this.#heights = null;
    this.#count = count;
    this.#height = height;
    this.#canvas.style.height = `${count * height}px`;
  }

  // setHeights says how high each row is, in rows of a height; tops[i] is the number of rows above the i-th.
  setHeights(tops, height) {
    this.#heights = true;
    this.#tops = tops;
    this.#count = tops.length - 1;
    this.#height = height;
    this.#canvas.style.height = `${tops[this.#count] * height}px`;
  }

  get rowHeight() { return this.#height; }

  top(index) { return (this.#heights ? this.#tops[index] : index) * this.#height; }

  // at is the row at a distance from the top.
  at(y) {
    const rows = y / this.#height;
    if (!this.#heights) return Math.max(0, Math.min(this.#count - 1, Math.floor(rows)));
    let low = 0;
    let high = this.#count;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.#tops[middle] <= rows) low = middle; else high = middle;
    }
    return low;
  }

  // reveal scrolls as little as makes a row visible.
  reveal(index) {
    const top = this.top(index);
    const bottom = this.top(index + 1);
    const view = this.#scroller;
    if (top < view.scrollTop) view.scrollTop = top;
    if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
  }

  // centre scrolls so that a row stands in the middle, unless it is in view.
  centre(index) {
    const top = this.top(index);
    const view = this.#scroller;
    if (top >= view.scrollTop && this.top(index + 1) <= view.scrollTop + view.clientHeight) return;
    view.scrollTop = Math.max(0, top - view.clientHeight / 2);
  }

  get range() {
    const view = this.#scroller;
    if (this.#count === 0 || view.clientHeight === 0) return [0, 0];
    return [this.at(Math.max(0, view.scrollTop - overscan)),
      this.at(view.scrollTop + view.clientHeight + overscan) + 1];
  }

  schedule() {
    this.#frame ||= requestAnimationFrame(() => this.render());
  }

  // render draws the rows in view, and drops the others.
  render() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const [from, to] = this.range;
    for (const [index, row] of this.#drawn) {
      if (index < from || index >= to) {
        row.remove();
        this.#drawn.delete(index);
      }
    }
    let before = null;
    for (let index = to - 1; index >= from; index--) {
      const known = this.#drawn.get(index);
      const row = this.#draw(index, known ?? null);
      if (row !== known) {
        known?.remove();
        this.#drawn.set(index, row);
      }
      const top = `${this.top(index)}px`;
      if (row.style.top !== top) row.style.top = top;
      if (!row.isConnected || row.nextSibling !== before) this.#canvas.insertBefore(row, before);
      before = row;
    }
    setAttribute(this.#canvas, 'data-rows', this.#count);
  }

  // forget drops all rows, because they have another content now.
  forget() {
    for (const row of this.#drawn.values()) row.remove();
    this.#drawn.clear();
  }
}
