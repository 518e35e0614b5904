// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestCasesAreListedWithoutAPlugin(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "test", "--list", "-o", "json")
	require.Zero(t, code, stderr)
	var listed document.PluginCases
	clitest.Document(t, "plugin-test-list", stdout, &listed)
	require.Len(t, listed.Cases, len(conformance.Cases()))
	require.NotEmpty(t, listed.Cases[0].NextStep)

	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "test", "--list", "--only", "cancel.*", "-o",
		"name")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "cancel.ends\n")
	require.NotContains(t, stdout, "start.serves")

	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "test", "--list", "--only", "cancl.*")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "no case has the id \"cancl.*\"\nnext step: see the ids with: pipedeck plugin test "+
		"--list")

	code, _, stderr = command(t.Context(), t.TempDir(), "plugin", "test")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "takes 1 argument, got none")
}

func TestAFailedCaseSaysAllThatHelps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, results := filepath.Join(dir, "a plugin"), filepath.Join(dir, "results.xml")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho no licence >&2\nexit 3\n"), 0o700))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "test", program, "--only", "cancel.ends",
		"--stage", "WORK", "--junit", results)
	require.Equal(t, exit.Failed, code)
	for _, line := range []string{
		"failed: start.serves\n", "seen: the program does not start: it ended before it answered", "no licence",
		"\nwhy it matters: ", "\nnext step: ",
		"\nrun it alone: pipedeck plugin test '" + program + "' --only start.serves",
		" --stage WORK\n", "2 cases: 0 passed, 1 failed, 0 noted, 1 not applicable\n",
	} {
		require.Contains(t, stdout, line)
	}
	require.Contains(t, stderr, "pipedeck: 1 case failed\nnext step: see docs/conformance.md")

	var suites struct {
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	data, err := os.ReadFile(results)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(data, &suites))
	require.Equal(t, 1, suites.Failures)
	require.Equal(t, "start.serves", suites.Suites[0].Cases[0].Name)
	require.Contains(t, suites.Suites[0].Cases[0].Failure, "run it alone: pipedeck plugin test")
}

func TestCasesThatNeedAStageThatSucceedsAreCounted(t *testing.T) {
	t.Parallel()
	result := func(state conformance.State, detail string) conformance.Result {
		return conformance.Result{State: state, Detail: detail}
	}
	require.Empty(t, unseen([]conformance.Result{result(conformance.Noted, "it does not succeed"),
		result(conformance.NotApplicable, "it has one stage"), result(conformance.Passed, "")}))
	require.Equal(t, "not looked at: 2 cases, because the stage does not succeed; give it options with --with, or an "+
		"application with --source\n", unseen([]conformance.Result{
		result(conformance.NotApplicable, "the stage does not succeed, see execution.ends"),
		result(conformance.NotApplicable, "a quick sync does not succeed: no file"), result(conformance.Passed, "")}))
}

func TestALongTestSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &testProgress{total: 3, to: &out, stop: make(chan struct{}), running: map[string]bool{}}
	p.begun(conformance.Case{ID: "b"})
	p.begun(conformance.Case{ID: "a"})
	p.begun(conformance.Case{ID: "c"})
	p.done(conformance.Result{Case: conformance.Case{ID: "b"}})
	require.Equal(t, "1 of 3 cases, now: a, c", p.words())

	short := newTestProgress(1, &out)
	short.end()
	require.Empty(t, out.String(), "a short one says nothing")
	require.Less(t, progressAfter, 2*time.Second)
	require.False(t, strings.Contains(p.words(), "\n"))
}
