// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Elements by name. All text goes in as text nodes, so that nothing that a commit, a log or a name says becomes markup.

const svgSpace = 'http://www.w3.org/2000/svg';

// byId returns the element of index.html with an id.
export const byId = (id) => document.getElementById(id);

// el makes an element; children are nodes or texts, and what is null, false or '' is left out.
export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

// svg is el for the elements of drawings.
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(svgSpace, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false && child !== '') element.append(child);
  }
  return element;
}

// setAttribute sets an attribute only when it changes; null and false remove it.
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? '' : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

// setText sets the text of an element only when it changes, so that screen readers and the layout stay quiet.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// show shows or hides an element.
export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

// replace puts children in place of those that an element has, unless a key says that they are the same as before.
export function replace(element, key, children) {
  if (key !== null && element.dataset.key === key) return false;
  if (key !== null) element.dataset.key = key;
  element.replaceChildren(...children().flat().filter((child) => child !== null && child !== '' && child !== false));
  return true;
}

// signed is a sign and a word of a state; the sign is not read aloud, since the word says the same.
export function signed(state, word = state.word) {
  return el('span', { class: `state ${state.tone}` },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, state.sign), word && ' ', word);
}
