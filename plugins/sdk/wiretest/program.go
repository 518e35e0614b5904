// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package wiretest

import (
	"encoding/json"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// StartProgram runs the program of a plugin, in whatever language it is written, as PipeCD's piped does: with
// the same command line, on a port of 127.0.0.1. It returns when the plugin answers, and ends it with the
// test. Stop sends SIGTERM; a program that has not ended after 20 seconds is killed and fails the test.
func StartProgram(t testing.TB, path string, opts Options) *Harness {
	t.Helper()
	if opts.Name == "" {
		opts.Name = "plugin"
	}
	settings := sdk.Settings{Name: opts.Name, URL: "file://" + path, DeployTargets: opts.DeployTargets}
	if opts.Config != nil {
		data, err := json.Marshal(opts.Config)
		require.NoError(t, err)
		settings.Config = data
	}
	piped := opts.Piped
	if piped == nil {
		piped = startPiped(t, opts.OldPiped)
	}
	program, err := standin.StartProgram(t.Context(), path, "", piped.Address, settings, t.Output())
	require.NoError(t, err)
	h := newHarness(program.Conn, piped, opts)
	h.stop = program.Stop
	t.Cleanup(func() { require.NoError(t, program.Close()) })
	return h
}
