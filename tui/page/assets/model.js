// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// What the server has said: see events.go for the types. The page keeps no truth of its own: all of it is replaced
// when the server begins again.

import { applicationState, deploymentEnded, moment, natural } from './words.js';

// kept is how many deployments of one application are remembered; Kept in events.go.
const kept = 20;

export class Model {
  hello = null;
  watching = 0;
  playback = null;
  story = null;
  // ended is why there are no more events, and whether the environment has ended; null while there are.
  ended = null;
  // detail is the selected deployment with its stages, drawing and charts; null until it has come.
  detail = null;
  // #ahead is by how many milliseconds the clock of the server differs from that of this browser.
  #ahead = 0;
  #heard = 0;
  #states = new Map();
  #leading = null;
  // #frozen is the time at which the page stands while it hears nothing; null while it does.
  #frozen = null;

  constructor() { this.#forget(); }

  #forget() {
    this.synced = false;
    this.connection = null;
    this.overall = null;
    this.environment = null;
    this.applications = new Map();
    this.deployments = new Map();
    this.plugins = new Map();
    this.components = new Map();
    this.problems = new Map();
    this.pipeds = new Map();
  }

  // now is the time at the server; of a recorded session, the time that it shows.
  get now() {
    if (this.#frozen !== null) return this.#frozen;
    if (!this.playback) return Date.now() + this.#ahead;
    const moved = this.playback.playing ? (Date.now() - this.#heard) * this.playback.speed : 0;
    return moment(this.playback.now) + moved;
  }

  // stand has the time stand still, or go on: durations of what is not heard of do not grow.
  stand(still) { this.#frozen = still ? this.now : null; }

  // position is how many seconds of a recorded session are over.
  get position() {
    const { at_seconds: at, length_seconds: length, playing, speed } = this.playback;
    return Math.min(length, at + (playing ? ((Date.now() - this.#heard) / 1000) * speed : 0));
  }

  // takeHello takes what does not change while the server runs.
  takeHello(hello) {
    if (this.hello && this.hello.epoch !== hello.epoch) this.playback = this.story = null;
    this.hello = hello;
    this.#ahead = moment(hello.now) - Date.now() || 0;
  }

  takePlayback(playback) {
    this.playback = playback;
    this.#heard = Date.now();
  }

  // takeState takes what has changed; with whole, what is not in it is gone.
  takeState(state) {
    if (state.whole) this.#forget();
    this.synced ||= state.synced;
    for (const name of ['connection', 'overall', 'environment']) if (state[name]) this[name] = state[name];
    put(this.applications, state.applications, 'id');
    put(this.deployments, state.deployments, 'id');
    put(this.plugins, state.plugins, 'key');
    put(this.components, state.components, 'name');
    put(this.problems, state.problems, 'id');
    put(this.pipeds, state.pipeds, 'id');
    for (const [name, ids] of Object.entries(state.gone ?? {})) for (const id of ids) this[name]?.delete(id);
    for (const { app_id: application } of state.whole ? [] : state.deployments ?? []) this.#drop(application);
    this.#states.clear();
    this.#leading = null;
  }

  // #drop forgets what is more than an application keeps.
  #drop(application) {
    for (const deployment of this.history(application).slice(kept)) this.deployments.delete(deployment.id);
  }

  takeDetail(detail) {
    this.detail = detail;
    if (!detail.deployment) return;
    this.deployments.set(detail.id, detail.deployment);
    this.#leading = null;
    this.#states.clear();
  }

  present(application) { return this.deployments.get(application.present); }

  // stateOf is what matters most about an application.
  stateOf(application) {
    let state = this.#states.get(application.id);
    if (!state) {
      state = applicationState(application, this.present(application));
      this.#states.set(application.id, state);
    }
    return state;
  }

  // worstFirst are the applications in the order of the list.
  worstFirst() {
    return [...this.applications.values()].sort((a, b) =>
      this.stateOf(b).weight - this.stateOf(a).weight || natural(a.label, b.label));
  }

  // history are the known deployments of an application, the newest first.
  history(application) {
    return [...this.deployments.values()].filter((deployment) => deployment.app_id === application)
      .sort((a, b) => moment(b.created_at) - moment(a.created_at));
  }

  // leading is the deployment that the page shows while it follows: the newest that is under way, else the newest of
  // all. A queued one has nothing to show yet.
  leading() {
    this.#leading ??= this.#findLeading();
    return this.#leading;
  }

  #findLeading() {
    const rank = (deployment) => (deploymentEnded(deployment) ? 0 : deployment.status === 'PENDING' ? 1 : 2);
    let best = null;
    for (const deployment of this.deployments.values()) {
      const more = best && (rank(deployment) - rank(best) || moment(deployment.created_at) - moment(best.created_at));
      if (!best || more > 0) best = deployment;
    }
    return best;
  }

  // leadingStage is the stage that the page shows while it follows: one that failed, waits or runs, else the last
  // that has begun.
  leadingStage() {
    const stages = this.detail?.stages ?? [];
    const first = (look) => stages.find((stage) => stage.look === look && !(look === 'failed' && stage.rollback));
    return first('waiting') ?? first('failed') ?? first('running') ??
      stages.filter((stage) => stage.started_at)
        .sort((a, b) => moment(b.started_at) - moment(a.started_at) || b.index - a.index)[0] ?? stages[0] ?? null;
  }
}

function put(map, list, key) {
  for (const object of list ?? []) map.set(object[key], object);
}
