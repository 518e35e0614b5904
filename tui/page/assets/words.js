// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// The signs, words, times and durations of the page. They are those of the terminal UI, so that a room that has seen
// one can read the other. A state is { sign, word, tone }; the tone names a colour of style.css.

const state = (sign, word, tone) => ({ sign, word, tone });

const stages = {
  NOT_STARTED: state('○', 'not started', 'idle'),
  RUNNING: state('●', 'running', 'running'),
  SUCCESS: state('✓', 'succeeded', 'ok'),
  FAILURE: state('✗', 'failed', 'failed'),
  CANCELLED: state('⊘', 'cancelled', 'idle'),
  SKIPPED: state('»', 'skipped', 'idle'),
  EXITED: state('»', 'ended the deployment', 'ok'),
};

const deployments = {
  PENDING: state('○', 'Pending', 'running'),
  PLANNED: state('○', 'Planned', 'running'),
  RUNNING: state('●', 'Running', 'running'),
  ROLLING_BACK: state('↺', 'Rolling back', 'rollback'),
  SUCCESS: state('✓', 'Deployed', 'ok'),
  FAILURE: state('✗', 'Failed', 'failed'),
  CANCELLED: state('⊘', 'Cancelled', 'waiting'),
};

const syncs = {
  SYNCED: state('✓', 'synced', 'ok'),
  DEPLOYING: state('●', 'deploying', 'running'),
  OUT_OF_SYNC: state('≠', 'out of sync', 'waiting'),
  INVALID_CONFIG: state('✗', 'invalid config', 'failed'),
  ORPHANED: state('⊘', 'orphaned', 'waiting'),
};

const plugins = {
  STARTING: state('●', 'starting', 'running'),
  RUNNING: state('✓', 'running', 'ok'),
  RESTARTING: state('↺', 'restarting', 'waiting'),
  FAILED: state('✗', 'failed', 'failed'),
  STOPPED: state('⊘', 'stopped', 'idle'),
};

const components = {
  PENDING: state('○', 'pending', 'idle'),
  STARTING: state('●', 'starting', 'running'),
  READY: state('✓', 'ready', 'ok'),
  FAILED: state('✗', 'failed', 'failed'),
  STOPPED: state('⊘', 'stopped', 'idle'),
  DEGRADED: state('!', 'degraded', 'waiting'),
};

const unknown = state('?', 'unknown', 'idle');

export const pluginState = (plugin) => plugins[plugin.state] ?? unknown;
export const componentState = (component) => components[component.state] ?? unknown;

// deploymentState is the state of a deployment as it is shown; one that waits for a person is no running one.
export function deploymentState(deployment) {
  if (deployment?.waits && !deploymentEnded(deployment)) return state('◆', 'Waits', 'waiting');
  return deployments[deployment?.status] ?? unknown;
}

const looks = {
  not_started: stages.NOT_STARTED, running: stages.RUNNING, waiting: state('◆', 'waits for approval', 'waiting'),
  done: stages.SUCCESS, failed: stages.FAILURE, skipped: stages.SKIPPED, cancelled: stages.CANCELLED,
};

// stageState is the state of a stage as it is drawn; one that waits for a person is no running one.
export function stageState(stage) {
  if (stage.pause) return state('◆', 'paused at a breakpoint', 'waiting');
  if (stage.look === 'not_started' && stage.rollback) return state('↺', 'only on failure', 'idle');
  if (stage.status === 'EXITED') return stages.EXITED;
  return looks[stage.look] ?? stages[stage.status] ?? unknown;
}

// deploymentEnded says whether a deployment will not change any more.
export const deploymentEnded = (deployment) => ['SUCCESS', 'FAILURE', 'CANCELLED'].includes(deployment?.status);

// applicationState is what matters most about an application, and how much: the greater the weight, the worse.
// present is the deployment that acts for it; undefined before the first.
export function applicationState(application, present) {
  const weighed = (weight, shown, word = shown.word) => ({ ...shown, word, weight });
  const acts = present && !deploymentEnded(present);
  if (application.disabled) return weighed(-1, state('⊘', 'disabled', 'idle'));
  if (present?.status === 'ROLLING_BACK') return weighed(8, deployments.ROLLING_BACK, 'rolling back');
  if (acts && present.waits) return weighed(6, state('◆', 'waits for approval', 'waiting'));
  if (acts) {
    const shown = deployments[present.status] ?? unknown;
    return weighed(4, shown, shown.word.toLowerCase());
  }
  if (application.sync === 'INVALID_CONFIG') return weighed(8, syncs.INVALID_CONFIG);
  if (application.failed) return weighed(8, stages.FAILURE);
  if (application.health === 'UNHEALTHY') return weighed(7, state('✗', 'unhealthy', 'failed'));
  if (application.problem) return weighed(5, state('!', application.problem, 'waiting'));
  const sync = application.deploying ? syncs.DEPLOYING : syncs[application.sync] ?? state('?', 'sync unknown', 'idle');
  const healthy = application.health === 'HEALTHY' ? ' · healthy' : '';
  return weighed({ ok: 0, idle: 1, waiting: 3, running: 4 }[sync.tone] ?? 5, sync, sync.word + healthy);
}

// shortHash is a commit as people write it.
export const shortHash = (hash) => (hash ?? '').slice(0, 7);

// lineState is the sign of a line of a log: what its plugin says of it, else what the line says itself; null for none.
export function lineState(line) {
  if (line.severity === 'ERROR' || line.level === 'failure') return state('✗', 'error', 'failed');
  if (line.level === 'warn') return state('!', 'warning', 'waiting');
  if (line.severity === 'SUCCESS') return state('✓', 'success', 'ok');
  return null;
}

// firstLine is the subject of a message.
export const firstLine = (text) => (text ?? '').split('\n', 1)[0];

// duration is a time span in milliseconds as in the terminal: 40ms, 0.4s, 12s, 3m07s, 2h05m, 3d04h.
export function duration(ms) {
  if (!(ms >= 0)) return '';
  const s = Math.floor(ms / 1000);
  const two = (n) => String(n).padStart(2, '0');
  if (ms < 100) return `${Math.floor(ms)}ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  if (s < 86_400) return `${Math.floor(s / 3600)}h${two(Math.floor(s / 60) % 60)}m`;
  return `${Math.floor(s / 86_400)}d${two(Math.floor(s / 3600) % 24)}h`;
}

// ticking is the duration of something that goes on; it changes once a second.
export const ticking = (ms) => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))}s` : duration(ms));

// position is a place in a recording, such as 2:05.
export function position(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  const two = (n) => String(n).padStart(2, '0');
  const hours = s >= 3600 ? `${Math.floor(s / 3600)}:` : '';
  return `${hours}${hours ? two(Math.floor(s / 60) % 60) : Math.floor(s / 60)}:${two(s % 60)}`;
}

const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23',
});
const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const zoneFormat = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });

// moment reads a time of the wire as milliseconds; NaN for none.
export const moment = (text) => (text ? Date.parse(text) : NaN);

// clock is a time of the day in the zone of the reader.
export const clock = (ms) => (Number.isFinite(ms) ? clockFormat.format(ms) : '');

// dated is a clock with its day when that is another than that of now.
export function dated(ms, now) {
  if (!Number.isFinite(ms)) return '';
  const day = new Date(ms).toDateString() === new Date(now).toDateString() ? '' : `${dayFormat.format(ms)} `;
  return day + clock(ms);
}

// zone is the name of the reader's zone, such as CEST.
export const zone = () => zoneFormat.formatToParts(Date.now())
  .find((part) => part.type === 'timeZoneName')?.value ?? '';

// size is a number of bytes with binary units.
export function size(bytes) {
  if (!bytes) return '–';
  if (bytes < 1 << 20) return `${bytes >> 10}K`;
  if (bytes < 10 * 2 ** 30) return `${Math.floor(bytes / 2 ** 20)}M`;
  return `${Math.floor(bytes / 2 ** 30)}G`;
}

const numberFormat = new Intl.NumberFormat('en');

// count is a number with what it counts: 1 line, 48,120 lines.
export const count = (n, what) => `${numberFormat.format(n)} ${what}${n === 1 ? '' : 's'}`;

// natural compares names so that web-2 comes before web-10.
export const natural = new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare;
