// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package document holds the JSON that pipedeck prints: the objects, the documents of -o json and the event lines of
// --output json. An application is the same object in a list and in an event line.
//
// Names and words are those of the tables: SYNCED, RUNNING. Numbers are numbers, times are RFC 3339 with nanoseconds in
// UTC. Texts and lists are there also when they are empty; a time or an object that there is not is left out. Names do
// not change once published; new ones may be added. The comments on the fields are the descriptions in
// docs/schemas/cli and docs/json.md, so each field has one.
package document
