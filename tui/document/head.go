// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import "time"

// Schema is the version of the form of all documents and event lines.
const Schema = 1

// Head begins every document of -o json.
type Head struct {
	// Schema is the version of the form of the document: 1.
	Schema int `json:"schema"`
}

// NewHead returns the head of a document.
func NewHead() Head { return Head{Schema} }

// LineHead begins every event line of --output json.
type LineHead struct {
	// Time is when it happened.
	Time string `json:"time" format:"date-time"`
	// Type names the kind of the line.
	Type string `json:"type"`
	// Schema is the version of the form of the line: 1.
	Schema int `json:"schema"`
}

// NewLineHead returns the head of an event line of a kind.
func NewLineHead(at time.Time, kind string) LineHead { return LineHead{Moment(at), kind, Schema} }
