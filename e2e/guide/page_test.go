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

// The sections of the guide that need other tools; those after Breakpoints start again.
const (
	// breakpoints needs a debugger, whose program PIPEDECK_DLV names.
	breakpoints   = "Breakpoints"
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

// reader follows a page.
type reader struct {
	dir       string
	variables []string
	cwd       string // a file with the directory of the last command
	// terminals have programs that keep them, such as an environment, until the section ends.
	terminals []*kept
}

// kept is a program that keeps its terminal.
type kept struct {
	command *exec.Cmd
	output  logtest.Buffer
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
			r.keep(t, b.Text)
		case b.Language == "text" && b.Mark == page.OfTerminal:
			r.awaitOutput(t, b)
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

// keep starts a program that keeps its terminal. It returns when an environment has deployed, and at once otherwise:
// the page shows for what a reader waits.
func (r *reader) keep(t *testing.T, script string) {
	t.Helper()
	script = strings.TrimSpace(script)
	last := strings.LastIndex(script, "\n") + 1
	program := &kept{command: r.shell(t, script[:last]+"exec "+script[last:])}
	program.command.Stdout, program.command.Stderr = &program.output, &program.output
	require.NoError(t, program.command.Start())
	r.terminals = append(r.terminals, program)
	if strings.Contains(script, "pipedeck up") {
		await(t, patience, func() string {
			if strings.Contains(program.output.String(), "  SUCCESS  ") {
				return ""
			}
			return script + "\n" + program.output.String()
		})
	}
}

// awaitOutput waits until the last terminal shows what the page shows.
func (r *reader) awaitOutput(t *testing.T, b page.Block) {
	t.Helper()
	last := r.terminals[len(r.terminals)-1]
	await(t, patience, func() string {
		if difference := dissimilar(b.Text, last.output.String()); difference != "" {
			return b.Place() + ": " + difference
		}
		return ""
	})
}

// leave ends what keeps a terminal, the last one first.
func (r *reader) leave() {
	for _, program := range slices.Backward(r.terminals) {
		_ = program.command.Process.Signal(os.Interrupt)
		_ = program.command.Wait() // it was interrupted
	}
	r.terminals = nil
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
