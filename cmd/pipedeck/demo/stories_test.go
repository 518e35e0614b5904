// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/story"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// samples are those that a story may name.
var samples = story.Samples{Names: sampleapps.Names(), Walk: sampleapps.Walk}

func TestTheStoriesThatComeWithPipedeckCanBePlayed(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, story.Names())
	for _, name := range story.Names() {
		s, err := story.Builtin(name, samples)
		require.NoError(t, err)
		require.NotEmpty(t, s.Title)
		pluginEditsApply(t, s)
	}
	_, err := story.Builtin("nothing", samples)
	require.EqualError(t, err, `unknown story "nothing"; known are: tour, failure, drift, plugin, dag, analysis`)
}

// pluginEditsApply requires that each edit of a plugin finds its text in the sources of a new plugin, in each language,
// as the edits before have left them.
func pluginEditsApply(t *testing.T, s *story.Story) {
	t.Helper()
	saved := []string{work(t, "stage/stage.go.tmpl"), work(t, "python-stage/main.py.tmpl")}
	for i, step := range s.Steps {
		for at, edit := range saved {
			if e := step.EditPlugin; e != nil {
				require.Contains(t, edit, e.Replace, s.Place(i, false))
				saved[at] = strings.Replace(edit, e.Replace, e.With, 1)
			}
		}
	}
}

// work is the file with the stage of a new plugin.
func work(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../scaffold/template", name))
	require.NoError(t, err)
	return string(content)
}
