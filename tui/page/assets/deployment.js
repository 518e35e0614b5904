// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The head of the shown deployment: its state first, seen from the last row, then what it deploys, and why it waits or
// failed.

import { byId, el, replace, setText, show, signed } from './dom.js';
import {
  clock, dated, deploymentEnded, deploymentState, duration, firstLine, moment, shortHash, ticking,
} from './words.js';

export function drawDeployment(model, selection) {
  const deployment = shownDeployment(model, selection);
  const application = model.applications.get(selection.application);
  const empty = byId('deployment-empty');
  show(byId('head'), Boolean(deployment || application));
  show(empty, !deployment);
  if (!deployment) {
    setText(empty, nothing(model, selection, application));
    replace(byId('status'), '', () => []);
    setText(byId('deployment-title'), application?.label ?? '');
    setText(byId('took'), '');
    replace(byId('subject'), '', () => []);
    setText(byId('about'), '');
    show(byId('reason'), false);
    return;
  }
  const state = stateOf(deployment);
  replace(byId('status'), JSON.stringify(state), () => [signed(state)]);
  const label = application?.label ?? deployment.app;
  setText(byId('deployment-title'), label);
  byId('deployment-title').title = label;
  replace(byId('subject'), `${deployment.commit} ${deployment.commit_message}`, () => [
    el('span', { class: 'hash' }, shortHash(deployment.commit)),
    el('span', { class: 'message', title: deployment.commit_message }, firstLine(deployment.commit_message)),
  ]);
  setText(byId('about'), about(deployment, model.now));
  drawReasons(model, deployment);
  tickDeployment(model, selection);
}

// shownDeployment is the selected one; null before it is known.
export function shownDeployment(model, selection) {
  const detail = model.detail?.id === selection.deployment ? model.detail.deployment : null;
  return detail ?? model.deployments.get(selection.deployment) ?? null;
}

function nothing(model, selection, application) {
  if (!model.synced) return 'Waiting for the environment';
  if (model.detail?.missing && model.detail.id === selection.deployment) {
    return 'This deployment is not known any more. Next step: choose another one in the list, or press f.';
  }
  if (application) return 'Not deployed yet: this application has no deployment';
  return 'No deployment yet: the first one shows here by itself';
}

// stateOf is the state of a deployment with how far it is.
function stateOf(deployment) {
  const state = deploymentState(deployment);
  const progress = deployment.stages_total > 0 && !deploymentEnded(deployment)
    ? ` ${deployment.stages_ended}/${deployment.stages_total}` : '';
  return { ...state, word: state.word + progress };
}

function about(deployment, now) {
  const who = deployment.commander || deployment.commit_author;
  const strategy = deployment.strategy ? deployment.strategy.toLowerCase().replace('_', ' ')
    : deployment.status === 'PENDING' ? 'queued' : 'planning';
  const started = moment(deployment.created_at);
  return [who, started && `started ${dated(started, now)}`, strategy, deployment.summary,
    deployment.planning_waits_for && `planning waits for plugin ${deployment.planning_waits_for}`]
    .filter(Boolean).join(' · ');
}

function drawReasons(model, deployment) {
  const reasons = reasonsOf(model, deployment);
  show(byId('reason'), reasons.length > 0);
  replace(byId('reason'), JSON.stringify(reasons), () => reasons.map(({ tone, text }) => reason(tone, text)));
}

// reasonsOf says once why the deployment is as it is, and who has to act.
function reasonsOf(model, deployment) {
  const reasons = [];
  const stages = model.detail?.id === deployment.id ? model.detail.stages ?? [] : [];
  for (const stage of stages) {
    if (stage.look === 'waiting') reasons.push({ tone: 'waiting', text: waiting(stage, deployment.app, model) });
  }
  if (['FAILURE', 'CANCELLED', 'ROLLING_BACK'].includes(deployment.status) && deployment.reason) {
    const failed = stages.find((stage) => stage.look === 'failed');
    const told = !failed || deployment.reason.includes('next step:');
    const text = deployment.reason + (told ? '' : `\nnext step: read the log of ${failed.label}`);
    reasons.push({ tone: deployment.status === 'CANCELLED' ? 'waiting' : 'failed', text });
  }
  const application = model.applications.get(deployment.app_id);
  if (application?.problem && !deployment.reason.includes(application.problem)) {
    const next = application.next_step ? `\nnext step: ${application.next_step}` : '';
    const tone = application.sync === 'INVALID_CONFIG' ? 'failed' : 'waiting';
    reasons.push({ tone, text: application.problem + next });
  } else if (deployment.status === 'SUCCESS' && application?.health === 'UNHEALTHY' && application.health_reason) {
    reasons.push({ tone: 'failed', text: `unhealthy: ${application.health_reason}` });
  }
  return reasons;
}

// waiting says who may let a stage go on, and how. A watcher cannot: the commands are for the one who may.
export function waiting(stage, application, model) {
  if (stage.pause) {
    return `${stage.label} is paused at a breakpoint\nnext step: the presenter continues the stage in the terminal UI`;
  }
  const given = stage.approved_by ?? [];
  const missing = (stage.approvers ?? []).filter((user) => !given.includes(user));
  const so = stage.approvals_needed > 1 ? `, ${given.length} of ${stage.approvals_needed}` : '';
  const by = given.length > 0 ? ` (approved by ${given.join(', ')})` : '';
  const who = missing.length > 0 ? `${missing.join(' or ')} may approve` : 'everyone may approve';
  const word = stage.config_id || stage.name;
  return `${stage.label} waits for approval${so}${by}: ${who}\n` +
    `next step: an approver presses the key in the terminal UI, or runs: pipedeck approve ${application} ${word}${model.hello?.flags ?? ''}`;
}

// reason is a text with the next step on a line of its own.
export function reason(tone, text) {
  const [why, ...next] = text.split(/\n?\s*next step: /);
  return el('div', { class: `reason ${tone}` }, el('p', {}, why.trim()),
    next.map((step) => el('p', { class: 'next' }, step.trim())));
}

// tickDeployment draws how long it has taken.
export function tickDeployment(model, selection) {
  const took = byId('took');
  const deployment = shownDeployment(model, selection);
  if (!deployment) return;
  const from = moment(deployment.created_at);
  setText(took, deployment.completed_at ? duration(moment(deployment.completed_at) - from) : ticking(model.now - from));
  took.title = deployment.completed_at ? `ended ${clock(moment(deployment.completed_at))}` : 'since it was created';
}
