// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The one stream of events of this tab. EventSource is not used because it hides the status of an answer: an ended
// session (401), a full house (503) and a server that is gone ask for different words.

const firstPause = 250;
const longestPause = 5000;
// silence is how long a stream may say nothing, not even a keep-alive, before it counts as lost.
const silence = 45_000;

export class Stream {
  #query;
  #handlers;
  #abort = null;
  #cursor = '';
  #attempt = 0;
  #timer = 0;
  #closed = false;
  #since = 0;

  // query returns what is selected, as parameters. handlers are event(kind, data), open(), lost(since, attempt, why),
  // and refused(status). After the event end the stream stays closed: what answers at the address later is either the
  // rest of a server that stops, or another server with another token.
  constructor(query, handlers) {
    this.#query = query;
    this.#handlers = handlers;
  }

  // restart opens the stream again, with what is selected now. The cursor stays, so no state is sent twice; without its
  // last two numbers, which are the place in the log of the stage that was selected before.
  restart() {
    if (this.#closed) return;
    this.#cursor = this.#cursor.split('.', 2).join('.');
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#open();
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#abort?.abort();
  }

  async #open() {
    const abort = this.#abort = new AbortController();
    const parameters = new URLSearchParams(this.#query());
    if (this.#cursor) parameters.set('cursor', this.#cursor);
    let why = '';
    try {
      const response = await fetch(`events?${parameters}`, {
        signal: abort.signal, cache: 'no-store', headers: { Accept: 'text/event-stream' },
      });
      if (response.status === 401 || response.status === 403) {
        this.close();
        this.#handlers.refused(response.status);
        return;
      }
      if (!response.ok) {
        why = (await response.text()).slice(0, 500).trim();
      } else {
        await this.#read(response.body.getReader(), abort);
      }
    } catch (error) {
      if (abort.signal.aborted && abort !== this.#abort) return;
    }
    if (abort === this.#abort && !this.#closed) this.#retry(why);
  }

  #retry(why) {
    this.#since ||= Date.now();
    this.#attempt++;
    this.#handlers.lost(this.#since, this.#attempt, why);
    if (this.#closed) return;
    const pause = Math.min(longestPause, firstPause * 2 ** Math.min(this.#attempt - 1, 10));
    // Spread, so that a room of watchers does not come back in the same moment.
    this.#timer = setTimeout(() => this.#open(), pause * (0.75 + Math.random() / 2));
  }

  async #read(reader, abort) {
    const decoder = new TextDecoder();
    let rest = '';
    let watchdog = setTimeout(() => abort.abort(), silence);
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(() => abort.abort(), silence);
        if (abort !== this.#abort) return;
        if (this.#attempt > 0 || this.#since === 0) this.#opened();
        rest = this.#parse(rest + decoder.decode(value, { stream: true }), rest.length);
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  #opened() {
    this.#attempt = 0;
    this.#since = 0;
    this.#handlers.open();
  }

  // #parse hands on each whole event of a text, and returns what is left of it. The part up to searched has no end of
  // an event, save for half of one.
  #parse(text, searched) {
    let from = 0;
    let end = text.indexOf('\n\n', Math.max(0, searched - 1));
    for (; end >= 0; end = text.indexOf('\n\n', from)) {
      this.#event(text.slice(from, end));
      from = end + 2;
    }
    return text.slice(from);
  }

  #event(block) {
    let kind = 'message';
    let data = '';
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon <= 0) continue; // a comment keeps the connection alive
      const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (line.startsWith('event:')) kind = value;
      if (line.startsWith('data:')) data += value;
      if (line.startsWith('id:')) this.#cursor = value;
    }
    if (kind === 'end') this.close();
    if (data || kind !== 'message') this.#handlers.event(kind, data ? JSON.parse(data) : {});
  }
}
