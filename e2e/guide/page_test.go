// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package guide

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
	"github.com/pipedeck/pipedeck/system/logtest"
)

// The sections of the guide that start again, with other tools.
const (
	inPython      = "In Python"
	forNode       = "For Node"
	otherLanguage = "In another language"
)

// sections reads the blocks of the sections of the guide that are wanted.
func sections(t *testing.T, wanted func(name string) bool) []page.Block {
	t.Helper()
	blocks, err := page.Read("../../" + authors)
	require.NoError(t, err)
	return slices.DeleteFunc(blocks, func(b page.Block) bool { return !wanted(b.Section) })
}

// breakpoints is the section of the guide that needs a debugger, whose program PIPEDECK_DLV names.
const breakpoints = "Breakpoints"

// reader follows a page.
type reader struct {
	dir       string
	variables []string
	cwd       string // a file with the directory of the last command
	// environment runs in a terminal, until the section ends or another one starts.
	environment *exec.Cmd
}

// patience bounds every wait: machines that run tests are slow and shared.
const patience = 2 * time.Minute

// follow writes the files and runs the commands; it returns what the commands printed, by their text. What the page
// shows as their output is compared.
func (r *reader) follow(t *testing.T, list []page.Block) map[string]string {
	t.Helper()
	defer r.leave()
	printed, last, section := map[string]string{}, "", ""
	for _, b := range list {
		if b.Section != section || strings.Contains(b.Text, "pipedeck ci") {
			r.leave()
		}
		section = b.Section
		switch {
		case b.Language == page.Until:
			r.await(t, b.Text)
		case b.Language == page.Before, b.Language == "sh" && b.Mark == page.Run:
			last = r.run(t, b.Text)
			printed[strings.TrimSpace(b.Text)] += last
		case b.Language == "sh" && b.Mark == page.RunTerminal:
			r.runUntilDeployed(t, b.Text)
		case b.Language == "text" && b.Mark == "":
			require.Empty(t, dissimilar(b.Text, last), b.Place())
		case b.File() != "":
			path := filepath.Join(r.dir, b.File())
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(b.Text), 0o644))
		}
	}
	return printed
}

// shell runs a script where the last one has ended.
func (r *reader) shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-euc", script)
	command.Dir = r.dir
	command.Env = append(os.Environ(), append(r.variables, "GUIDE_CWD="+r.cwd)...)
	return command
}

// runUntilDeployed starts an environment, and returns when it has deployed.
func (r *reader) runUntilDeployed(t *testing.T, script string) {
	t.Helper()
	command := r.shell(t, "exec "+script)
	var output logtest.Buffer
	command.Stdout, command.Stderr = &output, &output
	require.NoError(t, command.Start())
	r.environment = command
	require.Eventually(t, func() bool { return strings.Contains(output.String(), "  SUCCESS  ") },
		patience, 50*time.Millisecond, "%s", script)
}

// leave ends the environment, if there is one.
func (r *reader) leave() {
	if r.environment == nil {
		return
	}
	_ = r.environment.Process.Signal(os.Interrupt)
	_ = r.environment.Wait() // it was interrupted
	r.environment = nil
}

// await repeats a command until it succeeds.
func (r *reader) await(t *testing.T, script string) {
	t.Helper()
	await(t, patience, func() string {
		out, err := r.shell(t, script).CombinedOutput()
		if err == nil {
			return ""
		}
		return script + "\n" + string(out)
	})
}

func (r *reader) run(t *testing.T, script string) string {
	t.Helper()
	command := r.shell(t, script+"\npwd > \"$GUIDE_CWD\"\n")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	dir, err := os.ReadFile(r.cwd)
	require.NoError(t, err)
	r.dir = strings.TrimSpace(string(dir))
	return string(out)
}

// await asks until nothing is missing any more.
func await(t *testing.T, patience time.Duration, missing func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		what := missing()
		if what == "" {
			return
		}
		require.True(t, time.Now().Before(end), what)
	}
}
