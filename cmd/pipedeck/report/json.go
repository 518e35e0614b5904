// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/pipedeck/pipedeck/tui/document"
)

// JSON returns the run as one object, as docs/schemas/ci-report.json describes it.
func JSON(run Run) ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(run); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Lines writes a line of --output json for each application, with the type "outcome" and the fields of the report.
func Lines(w io.Writer, run Run) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for i := range run.Applications {
		a := run.Applications[i]
		a.Stages = nil // which have separate lines
		line := struct {
			Time string `json:"time"`
			Type string `json:"type"`
			Application
			Schema int `json:"schema"`
		}{document.Moment(run.Ended), "outcome", a, document.Schema}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
