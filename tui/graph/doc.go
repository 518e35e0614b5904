// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package graph draws the stages of a deployment as a graph of character cells, in two forms: lanes, from the top down
// with one stage on each row, and boxes, from left to right.
//
// Pure functions. Cells have roles, not colours: the theme of the terminal styles them. Which stage stands where
// depends on ids and needs only, so a change of a status moves nothing. Nothing is drawn outside the view that is
// asked for; any input is accepted.
package graph
