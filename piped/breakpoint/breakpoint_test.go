// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package breakpoint

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

func TestParseKeepsWhatUsersWrite(t *testing.T) {
	t.Parallel()
	for text, written := range map[string]string{
		"before WAIT":            "before WAIT",
		"  after   shop/deploy ": "after shop/deploy",
		"failure":                "failure",
		"failure shop/*":         "failure shop/*",
		"failure deploy":         "failure deploy",
		"before *":               "before *",
		"before a/b/c":           "before a/b/c",
	} {
		list, err := Parse([]string{text})
		require.NoError(t, err, text)
		require.Equal(t, written, Text(list[0]))
	}
}

func TestParseNamesTheMistake(t *testing.T) {
	t.Parallel()
	for text, problem := range map[string]string{
		"":                                   "want before STAGE",
		"befor WAIT":                         "did you mean before?",
		"before":                             "a stage is missing",
		"after /x":                           "is not APP/STAGE",
		"after x/":                           "is not APP/STAGE",
		"before a\nafter b":                  "several lines",
		"before " + strings.Repeat("x", 600): "more than 512 bytes",
	} {
		_, err := Parse([]string{text})
		require.ErrorContains(t, err, problem, text)
		require.ErrorAs(t, err, new(*SyntaxError))
	}
	_, err := Parse(strings.Split(strings.Repeat("failure\n", Max)+"failure", "\n"))
	require.ErrorContains(t, err, "more than 100")
}

func TestASetStopsAtItsOwnBreakpointsAndAtThoseOfTheControlPlane(t *testing.T) {
	t.Parallel()
	own, err := Parse([]string{"before deploy"})
	require.NoError(t, err)
	given, err := Parse([]string{"after shop/*", "failure"})
	require.NoError(t, err)
	goesOn, log := true, &bytes.Buffer{}
	s := NewSet(own, func() bool { return goesOn }, slog.New(slog.NewTextHandler(log, nil)))
	const before, after, failure = agentv1.Breakpoint_WHEN_BEFORE, agentv1.Breakpoint_WHEN_AFTER,
		agentv1.Breakpoint_WHEN_FAILURE
	require.True(t, s.Stops(before, "shop", "K8S_SYNC", "deploy"))
	require.False(t, s.Stops(before, "shop", "K8S_SYNC", "other"))
	require.False(t, s.Stops(failure, "shop", "WAIT", "WAIT"))
	s.Replace(given)
	require.True(t, s.Stops(failure, "mail", "WAIT", "WAIT"))
	require.True(t, s.Stops(after, "shop", "WAIT", "WAIT"))
	require.False(t, s.Stops(after, "mail", "WAIT", "WAIT"), "the breakpoint is for another application")
	s.Replace(nil)
	require.False(t, s.Stops(after, "shop", "WAIT", "WAIT"))
	require.True(t, s.Stops(before, "shop", "K8S_SYNC", "deploy"), "its own stay")
	require.Empty(t, log.String())
	goesOn = false
	require.False(t, s.Stops(before, "shop", "K8S_SYNC", "deploy"))
	require.False(t, s.Stops(before, "shop", "K8S_SYNC", "deploy"))
	require.Equal(t, 1, strings.Count(log.String(), "breakpoints are ignored"))
	require.False(t, (*Set)(nil).Stops(before, "shop", "deploy"))
}
