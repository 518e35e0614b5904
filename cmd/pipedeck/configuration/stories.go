// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/piped/config"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
	"github.com/pipedeck/pipedeck/tui/document"
)

// checkStories checks files that are all stories of pipedeck demo; nil for anything else.
func checkStories(files []configurationFile) *validation {
	isOther := func(f configurationFile) bool { return !story.Claimed(f.content) }
	if len(files) == 0 || slices.ContainsFunc(files, isOther) {
		return nil
	}
	v := newValidation(len(files))
	for _, file := range files {
		_, err := story.Parse(file.content, file.name, sampleapps.Names())
		var mistakes config.Errors
		errors.As(err, &mistakes)
		for _, m := range mistakes {
			v.Problems = append(v.Problems, document.Mistake{
				File: m.File, Line: m.Line, Column: m.Column, Severity: "error", Field: m.Field, Message: m.Message,
			})
		}
	}
	return v
}
