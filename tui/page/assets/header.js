// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

import { byId, el, replace, setAttribute, setText, show, signed } from './dom.js';
import { clock, count, moment, position, zone } from './words.js';

const overalls = {
  STARTING: { sign: '●', word: 'starting', tone: 'running' },
  READY: { sign: '✓', word: 'healthy', tone: 'ok' },
  DEGRADED: { sign: '!', word: 'degraded', tone: 'waiting' },
  FAILED: { sign: '✗', word: 'failed', tone: 'failed' },
  STOPPING: { sign: '⊘', word: 'stopping', tone: 'waiting' },
};

const connections = {
  connecting: { sign: '○', word: 'connecting', tone: 'idle' },
  live: { sign: '●', word: 'live', tone: 'ok' },
  replay: { sign: '▸', word: 'recorded', tone: 'running' },
  away: { sign: '!', word: 'environment away', tone: 'waiting' },
  reconnecting: { sign: '!', word: 'reconnecting', tone: 'waiting' },
  ended: { sign: '✗', word: 'ended', tone: 'failed' },
};

// stale are the connections of which nothing new is heard.
const stale = ['ended', 'reconnecting', 'away'];

export function drawHeader(model, link) {
  const environment = model.environment;
  setText(byId('name'), environment?.name ?? model.hello?.environment ?? '');
  setText(byId('kind'), kindOf(environment));
  const state = connectionOf(model, link);
  const fresh = !stale.includes(state);
  replace(byId('attention'), JSON.stringify([model.overall, model.problems.size, fresh]),
    () => attention(model, fresh));
  replace(byId('connection'), state, () => [signed(connections[state])]);
  setText(byId('watching'), model.watching > 1 ? `${model.watching} watch` : '');
  drawNotice(model, link, state);
  drawStory(model.story);
  show(byId('playback'), model.playback !== null);
  setAttribute(document.body, 'data-connection', state);
  setAttribute(document.body, 'data-stale', !fresh);
}

// connectionOf is the worst of the two connections: that of this page, and that of its server to the environment.
function connectionOf(model, link) {
  if (model.ended) return 'ended';
  if (link.lost) return 'reconnecting';
  if (!model.hello) return 'connecting';
  if (model.connection && model.connection.state === 'DISCONNECTED') return 'away';
  return model.hello.mode === 'replay' ? 'replay' : 'live';
}

// notFresh says, in few words, why what is on the page is not fresh.
export const notFresh = (model, link) => connections[connectionOf(model, link)].word;

function kindOf(environment) {
  if (!environment) return '';
  const clusters = environment.clusters ?? [];
  if (clusters.length > 1) return count(clusters.length, 'cluster');
  const kind = clusters[0]?.kind ?? environment.cluster_kind;
  return kind ? `${kind === 'none' ? 'no' : kind} cluster` : '';
}

function attention({ overall, problems }, fresh) {
  if (!overall) return [];
  const items = [];
  const item = (tone, sign, word) => items.push(el('li', {}, signed({ tone, sign, word })));
  if (overall.failed) item('failed', '✗', `${overall.failed} failed`);
  if (overall.unhealthy) item('failed', '✗', `${overall.unhealthy} unhealthy`);
  const waits = overall.waiting === 1 ? 'waits' : 'wait';
  if (overall.waiting) item('waiting', '◆', `${overall.waiting} ${waits} for a person`);
  // Those that wait deploy, too; each is counted once.
  const deploying = overall.deploying - overall.waiting;
  if (deploying > 0) item('running', '●', `${deploying} deploying`);
  if (!fresh) {
    item('idle', '?', 'health unknown');
    return items;
  }
  const state = overalls[overall.state];
  const suffix = problems.size > 0 ? `: ${count(problems.size, 'problem')}` : '';
  // Nothing is green while anything has failed.
  const calm = overall.failed + overall.unhealthy > 0 && overall.state === 'READY';
  if (state) item(calm ? 'idle' : state.tone, state.sign, calm ? 'parts ready' : state.word + suffix);
  return items;
}

// drawNotice says why what is on the page is not fresh, and since when.
function drawNotice(model, link, state) {
  const notice = byId('notice');
  const from = (ms) => (Number.isFinite(ms) ? ` What you see is from ${clock(ms)}.` : '');
  const lines = {
    ended: () => (model.ended.environment
      ? ['The environment has ended', `.${from(model.ended.at)}`]
      : ['This page is not served any more', `: ${model.ended.reason}.${from(model.ended.at)}`]),
    reconnecting: () => ['Reconnecting…', `${link.why ? ` ${link.why}.` : ''}${from(link.lost)}` +
      `${link.attempt > 1 ? ` Attempt ${link.attempt}.` : ''}`],
    away: () => ['The environment does not answer',
      `: ${model.connection.reason}.${from(moment(model.connection.since))}`],
  }[state]?.();
  show(notice, Boolean(lines));
  if (lines) replace(notice, lines.join(''), () => [el('strong', {}, lines[0]), lines[1].replace('..', '.')]);
}

function drawStory(story) {
  show(byId('story'), Boolean(story?.text));
  if (!story) return;
  setText(byId('caption'), story.text);
  const step = story.steps > 0 ? `step ${story.step} of ${story.steps}` : '';
  setText(byId('step'), [step, story.awaits].filter(Boolean).join('\n'));
}

// tickHeader draws what goes on with the time.
export function tickHeader(model) {
  setText(byId('clock'), model.hello ? `${clock(model.now)} ${zone()}` : '');
  const playback = model.playback;
  if (!playback) return;
  const over = model.position >= playback.length_seconds;
  setText(byId('playing'), over ? 'ended' : playback.playing ? `plays ${playback.speed}x` : 'paused');
  setText(byId('played'), `${position(model.position)} of ${position(playback.length_seconds)}`);
  byId('position').value = playback.length_seconds > 0 ? model.position / playback.length_seconds : 0;
}
