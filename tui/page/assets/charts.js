// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Charts of the metrics that an analysis evaluates. The canary is a solid line with dots, what it is compared with a
// dashed one with squares, limits are dotted with their number, bad values are crosses: none of it needs a colour.

import { el, svg } from './dom.js';

const width = 360;
const height = 126;
const left = 56;
const right = width - 8;
const top = 10;
const bottom = height - 14;

const none = (point) => point.empty || point.low > point.high;

export function drawCharts(charts) {
  const drawn = charts.map(chart).filter(Boolean);
  if (drawn.length === 0) return [];
  return [el('h3', {}, 'Metrics'), ...drawn, el('p', { class: 'legend' },
    el('span', {}, '–●– median'), el('span', {}, '-□- compared with'), el('span', {}, '│ samples'),
    el('span', {}, '× bad'), el('span', {}, '··· limit'), el('span', {}, '? no value'))];
}

function chart({ name, query, min, max, points }) {
  const [low, high] = range(points, min, max);
  if (low === undefined) return null;
  const x = (i) => left + ((right - left) * (i + 0.5)) / Math.max(points.length, 8);
  const y = (value) => bottom - (bottom - top) * (value / (high - low) - low / (high - low));
  const known = points.map((point, i) => [point, i]).filter(([point]) => !none(point));
  const compared = known.filter(([point]) => point.other !== undefined && point.other !== null);
  const drawing = svg('svg', {
    viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': spoken(name, points, min, max),
  },
    [low, high].map((value) => [
      svg('line', { class: 'axis', x1: left, x2: right, y1: y(value), y2: y(value) }),
      svg('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, measure(value)),
    ]).flat(),
    known.map(([{ low: least, high: most }, i]) =>
      svg('line', { class: 'spread', x1: x(i), x2: x(i), y1: y(least), y2: y(most) })),
    [['min', min], ['max', max]].filter(([, limit]) => limit !== undefined && limit !== null).map(([word, limit]) => [
      svg('line', { class: 'limit', x1: left, x2: right, y1: y(limit), y2: y(limit) }),
      svg('text', { x: right, y: y(limit) - 4, 'text-anchor': 'end' }, `${word} ${measure(limit)}`),
    ]).flat(),
    compared.length > 0 &&
      svg('path', { class: 'other', d: line(compared.map(([point, i]) => [x(i), y(point.other)])) }),
    compared.map(([point, i]) =>
      svg('rect', { class: 'square', x: x(i) - 3, y: y(point.other) - 3, width: 6, height: 6 })),
    known.length > 0 && svg('path', { class: 'value', d: line(known.map(([point, i]) => [x(i), y(point.value)])) }),
    points.map((point, i) => mark(point, x(i), none(point) ? bottom : y(point.value))));
  return el('figure', { class: 'chart' }, el('figcaption', {}, el('strong', {}, name), ' ',
    el('span', { class: 'dim mono' }, query)), drawing);
}

function mark(point, x, y) {
  if (none(point)) return svg('text', { x, y, 'text-anchor': 'middle' }, '?');
  if (point.verdict === 'bad') return svg('path', { class: 'cross', d: `M${x - 4} ${y - 4}l8 8m0-8l-8 8` });
  return svg('circle', { class: 'dot', cx: x, cy: y, r: 3 });
}

const line = (points) => points.map(([x, y], i) => `${i > 0 ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

// range is from the least to the greatest value and limit; [] when no evaluation has a value.
function range(points, min, max) {
  const values = points.filter((point) => !none(point))
    .flatMap((point) => [point.low, point.high, point.value, point.other]);
  if (values.length === 0) return [];
  const all = [...values, min, max].filter((value) => Number.isFinite(value));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (low < high) return [low, high];
  const room = Math.max(1, Math.abs(low) / 2);
  return [low - room, high + room];
}

// spoken is a chart in a sentence.
function spoken(name, points, min, max) {
  const last = points.filter((point) => !none(point)).at(-1);
  const bad = points.filter((point) => point.verdict === 'bad').length;
  return [name, last ? `last ${measure(last.value)}` : 'no value',
    last && Number.isFinite(last.other) && `compared with ${measure(last.other)}`,
    Number.isFinite(min) && `at least ${measure(min)}`, Number.isFinite(max) && `at most ${measure(max)}`,
    `${points.length} evaluations`, bad > 0 && `${bad} bad`].filter(Boolean).join(', ');
}

// measure writes a number in few signs.
const measure = (value) => String(Number(value.toPrecision(4)));
