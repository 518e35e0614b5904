// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"github.com/pipedeck/pipedeck/cmd/pipedeck/scaffold"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/plugins"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// Samples returns what a story may name.
func Samples() story.Samples {
	return story.Samples{Names: sampleapps.Names(), Walk: sampleapps.Walk, Plugins: plugins.Bundled(),
		Refuse: scaffold.CheckName}
}
