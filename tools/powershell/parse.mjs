// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Reads a PowerShell script from standard input, and prints each place that is not PowerShell. Exit code 1: there are some.
// The argument is the directory with the packages, which make powershell fetches.
// Run it with node --liftoff-only: Node would take minutes to optimise the grammar, which parses one short script.

import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";

const fetched = createRequire(`${realpathSync(process.argv[2])}/`);
const { Language, Parser } = fetched("web-tree-sitter");
const grammar = fetched.resolve("tree-sitter-powershell/tree-sitter-powershell.wasm");
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(grammar));
const { rootNode } = parser.parse(readFileSync(0, "utf8"));

const wrong = [];
const nodes = [rootNode];
while (nodes.length > 0) {
  const node = nodes.pop();
  if (node.isError || node.isMissing) {
    const { row, column } = node.startPosition;
    wrong.push(`${row + 1}:${column + 1}: ${node.isMissing ? "missing " + node.type : "unexpected text"}`);
  }
  nodes.push(...node.children);
}
console.log(wrong.join("\n"));
process.exit(wrong.length > 0 ? 1 : 0);
