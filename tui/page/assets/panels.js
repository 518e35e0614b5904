// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The quieter views: plugins, the parts of the environment, and the recent deployments of the application.

import { reason } from './deployment.js';
import { byId, el, replace, setText, signed } from './dom.js';
import {
  componentState, dated, deploymentState, duration, firstLine, moment, natural, pluginState, shortHash, size,
} from './words.js';

export function drawPlugins(model) {
  const plugins = [...model.plugins.values()].sort((a, b) => natural(a.label, b.label));
  const running = plugins.filter((plugin) => plugin.state === 'RUNNING').length;
  setText(byId('plugins-count'), plugins.length > 0 ? `${running} of ${plugins.length} running` : '');
  replace(byId('plugins-body'), JSON.stringify(plugins), () => {
    if (plugins.length === 0) return [el('p', { class: 'empty' }, 'No plugins yet: piped starts them')];
    return [el('table', { class: 'table' },
      el('thead', {}, el('tr', {}, ['Plugin', 'State', 'Restarts', 'Memory'].map((name, i) =>
        el('th', { scope: 'col', class: i > 1 ? 'number' : '' }, name)))),
      el('tbody', {}, plugins.map(plugin)))];
  });
}

function plugin(one) {
  const state = one.held ? { sign: '◆', word: 'held by a debugger', tone: 'waiting' } : pluginState(one);
  return el('tr', {},
    el('td', {}, el('div', {}, one.label), one.version && el('div', { class: 'dim' }, one.version)),
    el('td', {}, signed(state), one.detail && el('div', { class: 'wide' }, one.detail)),
    el('td', { class: 'number' }, String(one.restarts)), el('td', { class: 'number' }, size(one.rss)));
}

export function drawEnvironment(model) {
  const components = [...model.components.values()].sort((a, b) => a.order - b.order);
  const problems = [...model.problems.values()].sort((a, b) => moment(a.since) - moment(b.since));
  const pipeds = [...model.pipeds.values()];
  const { environment, hello } = model;
  replace(byId('environment-body'), JSON.stringify([environment, hello, components, problems, pipeds]), () => [
    problems.map(problem),
    components.length > 0 && el('table', { class: 'table', role: 'table' }, el('tbody', {}, components.map(component))),
    pipeds.length > 1 && el('h3', {}, 'Pipeds'),
    pipeds.length > 1 && el('dl', {}, pipeds.flatMap((piped) => [el('dt', {}, piped.name),
      el('dd', {}, [piped.state.toLowerCase().replace('_', ' '), piped.version].filter(Boolean).join(' · '))])),
    el('h3', {}, 'About'), el('dl', {}, facts(environment, hello, model.now)),
  ]);
}

function problem({ part, reason: why, next_step: next }) {
  return reason('waiting', `${part}: ${why}${next ? `\nnext step: ${next}` : ''}`);
}

function component(one) {
  const done = one.state === 'STARTING' && one.total > 0 ? ` ${one.done} of ${one.total}` : '';
  return el('tr', {}, el('td', {}, signed(componentState(one)), done),
    el('td', {}, one.name, el('div', { class: 'wide' }, one.detail), one.hint && el('p', { class: 'next' }, one.hint)));
}

function facts(environment, hello, now) {
  const rows = [];
  const row = (name, text) => { if (text) rows.push(el('dt', {}, name), el('dd', {}, text)); };
  row('repository', environment?.repository);
  row('branch', environment?.branch);
  row('clusters', (environment?.clusters ?? []).map((cluster) =>
    `${cluster.name}: ${cluster.kind}${cluster.simulated ? ', no containers run' : ''}`).join('\n'));
  row('started', dated(moment(environment?.started_at), now));
  row('breakpoints', (environment?.breakpoints ?? []).join('\n'));
  row('recorded', dated(moment(hello?.recorded), now));
  row('not complete', hello?.missing);
  row('pipedeck', hello?.version);
  return rows;
}

// drawHistory shows the deployments of an application that are known; pick is called with the one that the user chose.
export function drawHistory(model, selection, pick) {
  const deployments = selection.application ? model.history(selection.application) : [];
  const key = JSON.stringify([selection.deployment, deployments.map((one) => [one.id, deploymentState(one), one.completed_at])]);
  replace(byId('history-body'), key, () => {
    if (deployments.length === 0) return [el('p', { class: 'empty' }, 'No deployments of this application yet')];
    const rows = deployments.map((one) => deployment(one, selection, model.now, pick));
    return [el('table', { class: 'table', role: 'table' }, el('tbody', {}, rows))];
  });
}

function deployment(one, selection, now, pick) {
  const button = el('button', { type: 'button' }, signed(deploymentState(one)));
  button.addEventListener('click', () => pick(one));
  const took = one.completed_at ? duration(moment(one.completed_at) - moment(one.created_at)) : '';
  return el('tr', { 'aria-current': one.id === selection.deployment ? 'true' : null },
    el('td', {}, button, el('div', { class: 'wide' }, firstLine(one.commit_message))),
    el('td', { class: 'hash' }, shortHash(one.commit)),
    el('td', { class: 'number' }, el('div', {}, dated(moment(one.created_at), now)),
      el('div', { class: 'dim' }, took)));
}
