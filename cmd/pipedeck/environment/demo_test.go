// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/demo"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestAStorySaysWhatItNeedsBeforeItStartsAnything(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	state := filepath.Join(t.TempDir(), "state")
	code, stdout, stderr := command(t.Context(), state, "demo", "plugin", "--fast", "--output", "plain")
	require.Equal(t, exit.NotStarted, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "there is no go command to build them with")
	require.Contains(t, stderr, "\nnext step: install Go from https://go.dev/dl")

	_, err := findStoryPlugin(t.Context(), "greeter")
	require.EqualError(t, err, "the story creates the plugin greeter, and this machine cannot build it: there is "+
		"neither a go command nor a python3 with grpcio")
	found, err := findStoryPlugin(t.Context(), "")
	require.NoError(t, err, "most stories create none")
	require.Empty(t, found)

	python := filepath.Join(os.Getenv("PATH"), "python3")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\n"), 0o755))
	found, err = findStoryPlugin(t.Context(), "greeter")
	require.NoError(t, err)
	require.Equal(t, storyPlugin{"greeter", "python", "main.py"}, found)
	require.NoDirExists(t, state)
}

func TestAStoryWhoseEnvironmentEndsBetweenTwoStepsSaysWhyTheEnvironmentHasEnded(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Refuse(status.Error(codes.Unavailable, "the control plane is stopping"))
	read, err := story.Parse([]byte("apiVersion: pipedeck.dev/v1\nkind: Story\ntitle: A title\nsample: hello-world\n"+
		"steps:\n  - say: x\n"), "my.yaml", demo.Samples())
	require.NoError(t, err)
	play := &demo.Play{Story: read, Deck: server.Dial(t), Fast: true, Clock: clock.System{}}
	failed := play.Run(t.Context())
	require.ErrorContains(t, failed, "show the caption")

	why := exit.With(exit.NotStarted, errors.New("the disk is full"), "make room")
	ended := &host{ended: make(chan struct{}), err: why}
	close(ended.ended)
	require.Equal(t, error(why), ended.reason(t.Context(), failed))
	ended.err = nil
	require.EqualError(t, ended.reason(t.Context(), failed), "the environment has ended before the story")

	other := errors.New("step 1 of 1 failed")
	require.Equal(t, other, ended.reason(t.Context(), other))
}

func TestAStoryThatMeasuresItsPodsNeedsTheEmbeddedCluster(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	code, _, stderr := command(t.Context(), state, "demo", "analysis", "--output", "plain", "--cluster", "kind")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "the story measures its pods on this machine, which needs the embedded cluster")
	require.NoDirExists(t, state)
}

func TestAStoryRefusesWhatItCannotUseBeforeItStartsAnything(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	for want, args := range map[string][]string{
		"the story needs a cluster; --cluster none provides none": {"tour", "--cluster", "none"},
		"so it does not use an existing one":                      {"tour", "--cluster", "existing"},
		`they do not take "my.yaml"`:                              {"my.yaml", "--print", "tour"},
		`they do not take "tour"`:                                 {"tour", "--list"},
		"unknown story \"my\"":                                    {"my"},
	} {
		code, stdout, stderr := command(t.Context(), state, append([]string{"demo", "--output", "plain"}, args...)...)
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, want)
		require.Contains(t, stderr, "\nnext step: ")
	}
	require.NoDirExists(t, state)
}
