// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestTheLastLineOfTheOutputIsPartOfTheReason(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"": "", "\n \n": "", "one\ntwo\n\n": "two", "one\r\ntwo\r\n": "two", "\xffx": "x",
		strings.Repeat("a", 400): strings.Repeat("a", 300) + "…",
	} {
		require.Equal(t, want, (&tail{kept: []byte(output)}).last(), "%q", output)
	}
}

func TestAProgramThatIsNotInstalledIsTheCauseOfAFailure(t *testing.T) {
	t.Parallel()
	h := start(t)
	cause := func(run string) string {
		require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageScriptRun, with(t, options{Run: run})))
		return h.Piped.StageMetadata(stageID)[sdk.CauseMetadataKey]
	}
	require.Empty(t, cause("exit 127"))
	require.Empty(t, cause("./smoke-test.sh"), "a file of the application is a mistake")
	require.JSONEq(t, `{"kind": "NO_PROGRAM"}`, cause("set -e; no-such-program --flag; echo later"))
	require.Contains(t, h.Piped.Log(stageID), "no-such-program is not installed")
}

func TestShellsNameTheProgramThatTheyDoNotFind(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"/bin/sh: 1: kubectl: not found":                          "kubectl",
		"sh: kubectl: not found":                                  "kubectl",
		"/bin/sh: line 3: kubectl: command not found":             "kubectl",
		"/bin/sh: kubectl: command not found":                     "kubectl",
		"deploy.sh: 12: /opt/tool/bin/x: not found":               "/opt/tool/bin/x",
		"/usr/bin/env: ‘python3’: No such file or directory":      "python3",
		"env: can't execute 'python3': No such file or directory": "python3",
		"/bin/sh: 1: ./smoke-test.sh: not found":                  "",
		"/bin/sh: 1: scripts/smoke-test.sh: not found":            "",
		"/bin/sh: 1: /the/application/smoke-test.sh: not found":   "",
		"deployment web was not found":                            "",
		"cat: deployment.yaml: No such file or directory":         "",
		"": "",
	} {
		require.Equal(t, want, missingProgram(notFound, []byte("before\n"+line+"\n"), "/the/application"), line)
		require.Empty(t, missingProgram(1, []byte(line), ""), "another exit code: %s", line)
	}
	require.Equal(t, "b", missingProgram(notFound, []byte("sh: a: not found\r\nsh: b: not found\r\nbye"), ""))
}

func TestOnlyTheEndOfALongOutputIsKept(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	kept := &tail{to: &all}
	for _, part := range []string{strings.Repeat("a", maxTail-1), "bc", strings.Repeat("d", 3*maxTail), "end"} {
		n, err := kept.Write([]byte(part))
		require.NoError(t, err)
		require.Equal(t, len(part), n)
		require.LessOrEqual(t, len(kept.kept), maxTail)
	}
	require.Equal(t, 4*maxTail+1+3, all.Len())
	require.True(t, strings.HasSuffix(string(kept.kept), "dddend"))
}
