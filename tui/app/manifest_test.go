// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// oneFile is a repository with one file; what is committed goes to commits.
type oneFile struct {
	file    string
	refused error
	commits chan string
}

func (o oneFile) Find(*deckv1.Environment, *deckv1.Application) (string, error) {
	return o.file, o.refused
}

func (o oneFile) Diff(context.Context, string) (string, error) {
	content, err := os.ReadFile(o.file)
	if string(content) == "replicas: 1\n" || err != nil {
		return "", err
	}
	diff := "--- a/deployment.yaml\n+++ b/deployment.yaml\n@@ -1 +1 @@\n-replicas: 1\n"
	for line := range strings.Lines(string(content)) {
		diff += "+" + line
	}
	return diff, nil
}

func (o oneFile) Check(context.Context, string) []string {
	content, _ := os.ReadFile(o.file)
	if strings.Contains(string(content), "broken") {
		return []string{"deployment.yaml:2: mapping values are not allowed in this context"}
	}
	return nil
}

func (o oneFile) Commit(_ context.Context, file, message string) error {
	o.commits <- file + ": " + message
	return nil
}

// editing starts the UI with an editor that is a shell command about $1.
func editing(t *testing.T, server *decktest.Server, command string) (*terminal, oneFile) {
	t.Helper()
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\n"+command+"\n"), 0o755))
	o := oneFile{file: filepath.Join(dir, "deployment.yaml"), commits: make(chan string, 1)}
	require.NoError(t, os.WriteFile(o.file, []byte("replicas: 1\n"), 0o644))
	s := session{client: dial(t, server), width: 80, height: 24, environ: []string{"EDITOR=" + editor}, manifests: o}
	return s.start(t, t.Context()), o
}

func TestAManifestIsEditedAndCommittedWhenTheUserSaysSo(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s, o := editing(t, server, `echo "replicas: 3" > "$1"; read answer; echo "# $answer" >> "$1"`)
	s.seesText("press a to approve")
	s.types("E")
	s.losesText("press a to approve") // the terminal is the editor's
	s.types("yes\n")
	s.seesText("Commit deployment.yaml?", "-replicas: 1", "+replicas: 3", "+# yes")
	s.types("\r") // the safe answer
	s.losesText("Commit deployment.yaml?")
	require.Empty(t, o.commits)
	s.types("E")
	s.losesText("press a to approve")
	s.types("again\n")
	s.seesText("Commit deployment.yaml?", "+# again")
	s.types("y")
	s.seesText("committed: Edit deployment.yaml of hello-world")
	require.Equal(t, o.file+": Edit deployment.yaml of hello-world", <-o.commits)
	require.Empty(t, server.Calls)
}

func TestAnEditorThatChangesNothingOrFailsAsksNothing(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s, _ := editing(t, server, "true")
	s.seesText("press a to approve")
	s.types("E")
	s.seesText("nothing has changed in deployment.yaml", "K8S_CANARY_ROLLOUT", "3 Log")

	broken, _ := editing(t, server, "exit 3")
	broken.seesText("press a to approve")
	broken.types("E")
	broken.seesText("the editor failed: exit status 3", "3 Log")
}

func TestASavedFileOfALiveEnvironmentIsNotCommitted(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	live := decktest.Environment()
	live.Live = true
	server.Publish(live)
	s, o := editing(t, server, `i=0; while [ $i -lt 30 ]; do echo "line: $i"; i=$((i+1)); done > "$1"`)
	s.seesText("press a to approve")
	s.types("E")
	s.seesText("deployment.yaml is saved", "+line: 8", "and 21 more lines", "deployed without a commit", "close")
	s.types("y\r")
	s.losesText("deployment.yaml is saved")
	require.Empty(t, o.commits)
}

func TestAManifestWithAMistakeIsEditedAgain(t *testing.T) {
	t.Parallel()
	signals.RLock()
	defer signals.RUnlock()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s, o := editing(t, server, `read answer; printf 'replicas: 3\n# %s\n' "$answer" > "$1"`)
	s.seesText("press a to approve")
	s.types("E")
	s.losesText("press a to approve")
	s.types("broken\n")
	s.seesText("Commit deployment.yaml?", "✗ deployment.yaml:2: mapping values are not allowed", "+# broken",
		"edit it again", "commit it with its mistakes")
	s.types("\r") // the preselected answer
	s.losesText("Commit deployment.yaml?")
	s.types("right\n")
	s.seesText("Commit deployment.yaml?", "+# right", "yes, commit it")
	s.losesText("edit it again")
	require.Empty(t, o.commits)
	s.types("\r")
	s.losesText("Commit deployment.yaml?")
	s.seesText("press a to approve")
	s.types("E")
	s.losesText("press a to approve")
	s.types("broken\n")
	s.seesText("edit it again")
	s.types("y")
	s.seesText("committed: Edit deployment.yaml of hello-world")
	require.NotEmpty(t, <-o.commits, "whoever wants the mistake can have it")
}

func TestWhyNoManifestCanBeEdited(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key("E")
	require.Contains(t, m.toast.text, "its repository is not on this machine")
	m.host.cfg.Manifests = oneFile{refused: errors.New("the working tree is at try; check out main, which is watched")}
	m.key("E")
	require.Contains(t, m.toast.text, "no editor is set; set EDITOR")
	m.host.cfg.Environ = []string{"EDITOR=/bin/true"}
	m.key("down")
	m.Update(m.actions.edit()())
	require.Contains(t, m.toast.text, "cannot edit hello-world: the working tree is at try")
}
