// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/demo"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/document"
)

// takeStories parts the stories of pipedeck demo from the other files.
func takeStories(files []configurationFile) (stories, others []configurationFile) {
	for _, file := range files {
		if story.Claimed(file.content) {
			stories = append(stories, file)
		} else {
			others = append(others, file)
		}
	}
	return stories, others
}

// checkStories checks stories.
func checkStories(files []configurationFile) *validation {
	v := newValidation(len(files))
	for _, file := range files {
		_, err := story.Parse(file.content, file.name, demo.Samples())
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
