// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

// Exported is the document of pipedeck export.
type Exported struct {
	Head
	// File is the session that was written, which the numbers are about; empty for none.
	File string `json:"file"`
	// Environment is the name of the environment.
	Environment string `json:"environment"`
	// Running says that the environment runs; otherwise its history was read.
	Running bool `json:"running"`
	// Applications is how many applications the file has.
	Applications int `json:"applications"`
	// Deployments is how many deployments the file has.
	Deployments int `json:"deployments"`
	// Events is how many records the file has, each an object, a change or a part of a log.
	Events int `json:"events"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// Cast is the recording of the terminal that was written; empty for none.
	Cast string `json:"cast"`
	// SVG is the picture that was written; empty for none.
	SVG string `json:"svg"`
	// Missing says what the file does not have; empty when it has everything.
	Missing []string `json:"missing"`
}
