// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The page to watch: it shows what the server's one stream of events says, and keeps what the user has selected.

import { Applications } from './applications.js';
import { drawDeployment, shownDeployment, tickDeployment } from './deployment.js';
import { byId, setAttribute, setText, show } from './dom.js';
import { Graph } from './graph.js';
import { drawHeader, notFresh, tickHeader } from './header.js';
import { Keys } from './keys.js';
import { Log } from './log.js';
import { Model } from './model.js';
import { drawEnvironment, drawHistory, drawPlugins } from './panels.js';
import { Selection } from './selection.js';
import { drawStage, tickStage } from './stage.js';
import { Stream } from './stream.js';
import { deploymentState, stageState } from './words.js';

// protocol is the version of the events that this page knows; Protocol in events.go.
const protocol = 1;

const model = new Model();
const selection = new Selection();
// link is the connection to the server: since when it is lost, 0 for never, the attempts since, and why.
const link = { lost: 0, attempt: 0, why: '' };
const applications = new Applications(model, selection, pickApplication);
const graph = new Graph(pickStage);
const log = new Log();
const stream = new Stream(query, { event: take, open: opened, lost, refused });
let frame = 0;
let asked = '';

// query is what the server has to send besides the state.
function query() {
  const parameters = {};
  if (selection.deployment) parameters.deployment = selection.deployment;
  if (selection.deployment && selection.stage) {
    parameters.stage = selection.stage;
    if (log.lines.known && log.lines.is(selection.deployment, selection.stage)) parameters.line = log.lines.next;
  }
  asked = JSON.stringify([selection.deployment, selection.stage]);
  return parameters;
}

const takes = {
  hello(hello) {
    if (hello.protocol !== protocol) return another(hello.protocol);
    model.takeHello(hello);
  },
  reset() {}, // a whole state follows, and replaces what is here
  state(state) { model.takeState(state); },
  deployment(detail) { model.takeDetail(detail); },
  log(lines) { log.take(lines); },
  watchers({ watching }) { model.watching = watching; },
  playback(playback) { model.takePlayback(playback); },
  story(story) { model.story = story; },
  end({ reason, environment }) { model.ended = { reason, environment, at: Date.now() }; },
};

function take(kind, data) {
  takes[kind]?.(data);
  if (kind !== 'log') settle(); // lines change nothing besides the log, which draws itself
}

// another loads the page of a server that has changed; only once, in case that the same one comes again.
function another(other) {
  const key = 'pipedeck.protocol';
  if (sessionStorage.getItem(key) === String(other)) return;
  sessionStorage.setItem(key, String(other));
  location.reload();
}

// settle shows what is selected now; another selection is another stream.
function settle() {
  selection.settle(model);
  const stage = shownStage();
  log.select(selection.deployment, selection.stage, stage?.label ?? '');
  if (asked !== JSON.stringify([selection.deployment, selection.stage])) stream.restart();
  schedule();
}

const shownDetail = () => (model.detail?.id === selection.deployment ? model.detail : null);
const shownStage = () => shownDetail()?.stages?.find((one) => one.id === selection.stage);

function opened() {
  Object.assign(link, { lost: 0, attempt: 0, why: '' });
  schedule();
}

// lost is called for each attempt that failed. An environment that was stopping has ended: its last words were lost,
// such as those for a stream that was opened again in that moment. That of a recorded session has ended long ago.
function lost(since, attempt, why) {
  if (attempt > 1 && !model.playback && model.overall?.state === 'STOPPING') {
    model.ended = { reason: '', environment: true, at: since };
    stream.close();
  }
  Object.assign(link, { lost: since, attempt, why });
  schedule();
}

function refused(status) {
  const over = byId('over');
  setText(byId('over-title'), status === 401 ? 'This session has ended' : 'This address is not served');
  setText(byId('over-text'), 'The command that serves the page was started again, or its session is over.\n' +
    'Next step: open the address that pipedeck prints now, up to its end.');
  show(over, true);
}

function schedule() {
  frame ||= requestAnimationFrame(draw);
}

function draw() {
  frame = 0;
  const detail = shownDetail();
  drawHeader(model, link);
  model.stand(document.body.hasAttribute('data-stale'));
  const { now } = model;
  applications.draw();
  drawDeployment(model, selection);
  graph.draw(detail, selection.stage, now);
  drawStage(model, selection, pickStage);
  drawHistory(model, selection, pickDeployment);
  drawPlugins(model);
  drawEnvironment(model);
  setAttribute(document.body, 'data-view', selection.view);
  for (const button of document.querySelectorAll('#views button')) {
    setAttribute(button, 'aria-pressed', button.dataset.show === selection.view ? 'true' : 'false');
  }
  setAttribute(byId('follow'), 'aria-pressed', selection.following ? 'true' : 'false');
  title();
  announce(detail);
  tick();
}

// title says the state of the shown deployment on the tab of the browser, and when it is not fresh.
function title() {
  const deployment = shownDeployment(model, selection);
  const name = model.environment?.name ?? model.hello?.environment ?? '';
  const state = deployment ? deploymentState(deployment) : null;
  const words = document.body.hasAttribute('data-stale') ? `! ${notFresh(model, link)} · ` : state ? `${state.sign} ${deployment.app}: ${state.word.toLowerCase()} · ` : '';
  if (document.title !== `${words}pipedeck ${name}`) document.title = `${words}pipedeck ${name}`.trim();
}

let said = { id: '', states: new Map() };
let saying = [];
let sayer = 0;

// announce has screen readers say which states have changed; not those of a deployment that has just been opened.
function announce(detail) {
  if (!detail?.stages) return;
  const states = new Map([['', `${detail.deployment.app} ${deploymentState(detail.deployment).word}`],
    ...detail.stages.map((stage) => [stage.id, `${stage.label} ${stageState(stage).word}`])]);
  if (said.id === detail.id) {
    for (const [id, words] of states) if (said.states.get(id) !== words) saying.push(words);
  }
  said = { id: detail.id, states };
  if (saying.length === 0 || sayer) return;
  // Changes of one moment are one sentence.
  sayer = setTimeout(() => {
    sayer = 0;
    setText(byId('announcer'), saying.slice(-6).join(', '));
    saying = [];
  }, 500);
}

function tick() {
  tickHeader(model);
  tickDeployment(model, selection);
  tickStage(model, selection);
  graph.tick(model.now);
}

function pickApplication(id) {
  selection.pickApplication(id);
  if (selection.view === 'applications') selection.view = 'log';
  settle();
}

function pickDeployment(deployment) {
  selection.pickDeployment(deployment);
  settle();
}

function pickStage(id) {
  selection.pickStage(id);
  settle();
}

function follow() {
  selection.follow();
  settle();
}

function showView(view) {
  selection.view = view;
  settle();
}

byId('follow').addEventListener('click', () => {
  if (selection.following) {
    selection.following = false;
    selection.pinned = true;
    return settle();
  }
  follow();
});
byId('views').addEventListener('click', (event) => {
  if (event.target.dataset.show) showView(event.target.dataset.show);
});
window.addEventListener('hashchange', () => {
  selection.read();
  settle();
});
new Keys({
  applications, graph, log, follow,
  show(view) {
    showView(view);
    draw();
  },
  openLog() {
    showView('log');
    draw();
    log.view.focus();
    return true;
  },
  focusGraph() {
    draw();
    graph.drawing?.focus();
    return true;
  },
});

// Only what runs changes with the time; a reader who wants no motion gets it every ten seconds.
const pace = window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 10_000 : 1000;
setInterval(() => { if (!document.hidden) tick(); }, pace);
window.addEventListener('pageshow', (event) => { if (event.persisted) stream.restart(); });
stream.restart();
schedule();
