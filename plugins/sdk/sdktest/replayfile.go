// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// ReplayOptions say how a recording is played.
type ReplayOptions struct {
	// Name is that of the plugin in a recording that holds the calls of several; empty otherwise.
	Name string
	// Config, which is marshalled to JSON, and DeployTargets take the place of the recorded ones, in which secrets are
	// masked. nil is the recorded ones.
	Config        any
	DeployTargets []sdk.DeployTargetConfig
	// Repository is a checkout of the repository that the applications lie in; empty is directories with nothing but
	// the application configuration.
	Repository string
	// Ignore are regular expressions of texts that may differ, besides ids, times, durations and ports.
	Ignore []string
}

// ReplayFile calls the plugin as in a recording of pipedeck plugin record or pipedeck plugin calls --as recording, and
// fails the test where the plugin does not do as recorded. Each call, and what the plugin reports of each stage, is a
// separate test. It fails exactly where pipedeck plugin replay shows a difference: both play and compare with
// recording.Replay.
func ReplayFile(t *testing.T, plugin sdk.Plugin, path string, opts ReplayOptions) {
	t.Helper()
	outcomes, err := replayFile(t, plugin, path, opts)
	if err != nil {
		t.Fatalf("replay %s: %v", path, err)
	}
	for _, outcome := range outcomes {
		t.Run(outcome.Name, func(t *testing.T) {
			for _, d := range outcome.Differences {
				t.Errorf("%s is not as recorded\nrecorded:\n%s\nreplayed:\n%s", d.What, d.Recorded, d.Replayed)
			}
		})
	}
}

func replayFile(t *testing.T, plugin sdk.Plugin, path string, opts ReplayOptions) ([]recording.Outcome, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rec, err := recording.Read(file, opts.Name)
	if err != nil {
		return nil, err
	}
	if rec.Note != "" {
		t.Log(rec.Note)
	}
	for _, line := range rec.Interruptions() {
		t.Log(line)
	}
	replay := recording.ReplayOptions{Repository: opts.Repository}
	for _, text := range opts.Ignore {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		replay.Ignore = append(replay.Ignore, pattern)
	}
	given := sdk.Settings{URL: "file:///plugin", DeployTargets: opts.DeployTargets}
	if opts.Config != nil {
		if given.Config, err = json.Marshal(opts.Config); err != nil {
			return nil, err
		}
	}
	settings, err := rec.SettingsOr(given, false)
	if err != nil {
		return nil, err
	}
	replay.Start = func(piped *standin.Piped) (*standin.Program, error) {
		logger := slog.New(slog.NewTextHandler(t.Output(), nil))
		return standin.Serve(t.Context(), plugin, piped.Address, settings, logger)
	}
	return recording.Replay(t.Context(), rec, replay)
}
