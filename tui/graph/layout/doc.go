// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package layout places the stages of a pipeline and routes the edges between them.
//
// A pure function in two forms: Layered puts stages in columns by their needs, Lanes puts one stage on each row
// with its edges in lanes next to it. Coordinates are character cells, with the origin at the top left; a terminal
// draws them as they are, an SVG or a web page scales them. Only ids, needs and sizes count, never a status: what runs
// does not move. Any input is accepted: unknown needs, needs named twice, and needs that close a cycle are ignored.
package layout
