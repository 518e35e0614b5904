// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The selected stage: its state, the reason with the next step, who may approve, targets, planned changes, and charts of
// metrics.

import { drawCharts } from './charts.js';
import { reason, waiting } from './deployment.js';
import { byId, el, replace, setText, signed } from './dom.js';
import { bar } from './applications.js';
import { stageLink, tookWords } from './graph.js';
import { dated, moment, stageState } from './words.js';

export function drawStage(model, selection, pick) {
  const detail = model.detail?.id === selection.deployment ? model.detail : null;
  const stage = detail?.stages?.find((one) => one.id === selection.stage);
  setText(byId('stage-title'), stage ? `Stage ${stage.label}` : 'Stage');
  const charts = (detail?.charts ?? []).filter((chart) => chart.stage === stage?.id);
  const others = stage ? neighbours(detail.stages, stage) : null;
  const planned = (detail?.planned ?? []).filter((table) => table.stage === stage?.id);
  const key = JSON.stringify([stage, charts, planned, others]);
  replace(byId('stage-body'), key, () => {
    if (!stage) return [el('p', { class: 'empty' }, 'Select a stage in the drawing to see its state and reason')];
    return [...reasons(stage, model), facts(stage, others, model.now, pick), ...drawPlanned(planned), ...drawCharts(charts)];
  });
  tickStage(model, selection);
}

function neighbours(stages, stage) {
  return {
    needs: stages.filter((other) => stage.requires?.includes(other.id)),
    feeds: stages.filter((other) => other.requires?.includes(stage.id)),
  };
}

function reasons(stage, model) {
  if (stage.look === 'waiting') return [reason('waiting', waiting(stage, stage.app, model))];
  if (!stage.reason) return [];
  const tone = { failed: 'failed', cancelled: 'waiting' }[stage.look];
  return tone ? [reason(tone, stage.reason)] : [];
}

function facts(stage, { needs, feeds }, now, pick) {
  const rows = [];
  const row = (name, ...content) => {
    const shown = content.flat().filter((part) => part !== '' && part !== null && part !== undefined);
    if (shown.length > 0) rows.push(el('dt', {}, name), el('dd', {}, shown));
  };
  const links = (stages) => stages.map((other) => el('div', {}, stageLink(other, stageState(other), pick)));
  row('status', signed(stageState(stage)), ' ', el('span', { class: 'mono', id: 'stage-took' }));
  row('type', stage.name === stage.label ? '' : stage.name);
  row('about', stage.description);
  row('started', dated(moment(stage.started_at), now));
  row('attempt', stage.attempt > 1 ? `${stage.attempt}` : '');
  if (stage.progress) {
    const { done, total, text } = stage.progress;
    const so = total > 0 ? `${done} of ${total}` : done || '';
    row('progress', `${so} ${text}`.trim(), total > 0 ? bar(done / total) : '');
  }
  row('says', stage.display);
  row('approved by', (stage.approved_by ?? []).join(', '));
  row('approvers', (stage.approvers ?? []).join(', '));
  row('silent', stage.silent_since ? `no sign since ${dated(moment(stage.silent_since), now)}` : '');
  for (const target of stage.targets ?? []) {
    row(target.name, signed(stageState({ status: target.status })), target.detail ? ` ${target.detail}` : '');
  }
  row('needs', links(needs));
  row('feeds', links(feeds));
  row('plugin', stage.plugin ? [stage.plugin, stage.build?.version].filter(Boolean).join(' ') : '');
  return el('dl', {}, rows);
}

// drawPlanned are the tables of what the stage changes, as the terminal has them.
function drawPlanned(tables) {
  if (tables.length === 0) return [];
  return [el('h3', {}, 'Planned changes'), ...tables.flatMap(({ head, rows }) => [el('p', { class: 'planned-head' }, head),
    el('ul', { class: 'planned' }, rows.map(({ sign, words, kind, field }) => el('li', {
      class: [kind, field && 'field'].filter(Boolean).join(' '),
    }, el('span', { class: 'sign' }, sign), words)))])];
}

// tickStage draws how long the stage has run.
export function tickStage(model, selection) {
  const took = byId('stage-took');
  const stage = model.detail?.stages?.find((one) => one.id === selection.stage);
  if (took && stage) setText(took, tookWords(stage, model.now));
}
