// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The lines of the log of one stage by their numbers, and how many rows each takes. Memory is bounded: a reader who
// wants the beginning again gets it from the server.

// most is how many lines are kept, spare how many are dropped at once.
const most = 200_000;
const spare = 20_000;
// each is how many lines one answer of the server has at most.
const each = 2000;

export class LogLines {
  deployment = '';
  stage = '';
  // from is the number of the first line that is here, first that of the oldest at the server.
  from = 0;
  lines = [];
  first = 0;
  complete = false;
  truncated = false;
  error = '';
  known = false;
  // tops[i] is the number of rows above the i-th line.
  tops = [0];
  #columns = Infinity;
  #fetching = false;

  // begin is for another stage.
  begin(deployment, stage) {
    Object.assign(this, {
      deployment, stage, from: 0, lines: [], first: 0, complete: false, truncated: false, error: '', known: false,
      tops: [0],
    });
  }

  is(deployment, stage) { return this.deployment === deployment && this.stage === stage; }

  // next is the number of the line that comes next.
  get next() { return this.from + this.lines.length; }

  // take adds what the server has sent. It reports whether lines before are void, so that all rows are other ones.
  take(log) {
    Object.assign(this, {
      first: log.first, complete: log.complete, truncated: log.truncated, error: log.error ?? '', known: true,
    });
    const lines = log.lines ?? [];
    if (log.again || this.lines.length === 0 || log.from > this.next || log.from < this.from) {
      const other = this.lines.length > 0;
      this.from = log.from;
      this.lines = lines;
      this.measure(this.#columns);
      return other;
    }
    this.#append(lines.slice(this.next - log.from));
    return this.#drop();
  }

  #append(lines) {
    let rows = this.tops.at(-1);
    for (const line of lines) {
      this.lines.push(line);
      rows += rowsOf(line.text, this.#columns);
      this.tops.push(rows);
    }
  }

  #drop() {
    if (this.lines.length <= most) return false;
    this.lines.splice(0, spare);
    this.from += spare;
    this.measure(this.#columns);
    return true;
  }

  // measure says how many columns a row has; Infinity for lines that are not wrapped.
  measure(columns) {
    this.#columns = columns;
    this.tops = [0];
    const lines = this.lines;
    this.lines = [];
    this.#append(lines);
  }

  // earlier fetches the lines before those that are here. It returns how many have come.
  async earlier() {
    if (this.#fetching || this.from <= this.first || !this.known) return 0;
    const { deployment, stage, from: to } = this;
    this.#fetching = true;
    try {
      const from = Math.max(this.first, to - each);
      const response = await fetch(`log?${new URLSearchParams({ deployment, stage, from, to })}`);
      if (!response.ok) return 0;
      const log = await response.json();
      if (!this.is(deployment, stage) || this.from !== to) return 0;
      this.first = log.first;
      const lines = (log.lines ?? []).slice(0, to - log.from);
      this.from = log.from;
      this.lines = [...lines, ...this.lines];
      this.measure(this.#columns);
      return lines.length;
    } catch {
      return 0; // the stream says that the server is gone
    } finally {
      this.#fetching = false;
    }
  }

  // find returns the numbers of the lines that have a text, in lower case.
  find(text) {
    const found = [];
    this.lines.forEach((line, i) => {
      if (line.text.toLowerCase().includes(text)) found.push(this.from + i);
    });
    return found;
  }
}

const plain = /^[\x20-\x7e]*$/;
const wide = new RegExp('[\\u1100-\\u115f\\u2e80-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f' +
  '\\uff00-\\uff60\\uffe0-\\uffe6]|\\p{Extended_Pictographic}', 'u');

// rowsOf is how many rows a text takes. What is not ASCII may be wider than a column: it gets the room of two.
export function rowsOf(text, columns) {
  if (columns === Infinity) return 1;
  const length = plain.test(text) || !wide.test(text) ? text.length : text.length * 2;
  return Math.max(1, Math.ceil(length / columns));
}
