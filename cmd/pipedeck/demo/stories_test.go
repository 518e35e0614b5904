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

func TestTheStoriesThatComeWithPipedeckCanBePlayed(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, story.Names())
	for _, name := range story.Names() {
		s, err := story.Builtin(name, sampleapps.Names())
		require.NoError(t, err)
		require.NotEmpty(t, s.Title)
		sample, err := sampleapps.Find(s.Sample)
		require.NoError(t, err)
		editsApply(t, s, sample)
	}
	_, err := story.Builtin("nothing", sampleapps.Names())
	require.EqualError(t, err, `unknown story "nothing"; known are: tour, failure, drift, plugin, dag, analysis`)
}

// editsApply requires that each edit finds its text in the sample, as the edits before have left it.
func editsApply(t *testing.T, s *story.Story, sample sampleapps.Sample) {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, sample.Walk(func(name string, content []byte) error {
		files[name] = string(content)
		return nil
	}))
	saved := []string{work(t, "stage/stage.go.tmpl"), work(t, "python-stage/main.py.tmpl")}
	for i, step := range s.Steps {
		for at, edit := range saved {
			if e := step.EditPlugin; e != nil {
				require.Contains(t, edit, e.Replace, s.Place(i, false))
				saved[at] = strings.Replace(edit, e.Replace, e.With, 1)
			}
		}
		if edit := step.Edit; edit != nil {
			require.Contains(t, files[edit.File], edit.Replace, s.Place(i, false))
			files[edit.File] = strings.Replace(files[edit.File], edit.Replace, edit.With, 1)
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
