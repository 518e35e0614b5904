// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestAPluginToDevelopIsNamedWithItsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	for given, want := range map[string]string{"greeter": here, "greeter=" + dir: dir, "greeter=.": here} {
		name, got, err := pluginDirectory(given)
		require.NoError(t, err, given)
		require.Equal(t, []string{"greeter", want}, []string{name, got})
	}
	for given, want := range map[string]string{
		"":                "is not the name of a plugin",
		"=" + dir:         "is not the name of a plugin",
		"greeter=":        "is not the name of a plugin",
		"../greeter":      "is not the name of a plugin",
		"greeter=" + file: "is not a directory",
		"greeter=/none":   "/none is not a directory",
	} {
		_, _, err := pluginDirectory(given)
		require.ErrorContains(t, err, want, given)
	}
}

func TestWithoutAnEnvironmentAnAuthorLearnsHowToStartOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "dev", "greeter="+dir)
	require.Equal(t, exit.NotStarted, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "no environment \"default\" is running\nnext step: start one in another terminal")
	require.Contains(t, stderr, " --plugin greeter="+dir+"\n")
}

func TestTheStageToRunAgainIsOfTheNewestDeployment(t *testing.T) {
	t.Parallel()
	const success, failure = deckv1.StageStatus_STAGE_STATUS_SUCCESS, deckv1.StageStatus_STAGE_STATUS_FAILURE
	at := func(seconds int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: seconds} }
	ended, under := &deckv1.Deployment{Id: "1", CompletedAt: at(1)}, &deckv1.Deployment{Id: "3", CreatedAt: at(9)}
	newer := &deckv1.Deployment{Id: "2", CreatedAt: at(5), CompletedAt: at(6)}
	latest := &deckv1.Deployment{Id: "4", CreatedAt: at(10)}
	stage := func(of *deckv1.Deployment, id string, started int64, status deckv1.StageStatus) rerunTarget {
		return rerunTarget{deployment: of, stage: &deckv1.Stage{Id: id, StartedAt: at(started), Status: status}}
	}
	for name, c := range map[string]struct {
		all       []rerunTarget
		want, why string
	}{
		"none": {nil, "", ""},
		"one":  {[]rerunTarget{stage(ended, "a", 1, success)}, "a", "the only deployment with such a stage"},
		"the newest": {[]rerunTarget{stage(ended, "a", 1, success), stage(ended, "b", 2, success)}, "b",
			"the only deployment with such a stage, its last stage"},
		"a failed one": {[]rerunTarget{stage(ended, "a", 1, failure), stage(ended, "b", 2, success)}, "a",
			"the only deployment with such a stage, its last stage that has failed"},
		"none that failed in an older deployment": {
			[]rerunTarget{stage(newer, "a", 6, success), stage(ended, "b", 2, failure)}, "a",
			"the newest deployment that has ended"},
		"the newest failed one": {[]rerunTarget{stage(ended, "a", 1, failure), stage(ended, "b", 2, failure)}, "b",
			"the only deployment with such a stage, its last stage that has failed"},
		"not one that may run": {[]rerunTarget{stage(ended, "a", 1, success), stage(under, "b", 2, failure)}, "a",
			"the newest deployment that has ended"},
		"where all may run": {[]rerunTarget{stage(under, "a", 1, success), stage(latest, "b", 2, success)}, "b",
			"the newest deployment, since none has ended"},
	} {
		target := newestToRerun(c.all)
		require.Equal(t, c.want, target.stage.GetId(), name)
		require.Equal(t, c.why, chosen(target, c.all, false), name)
	}
	require.Empty(t, chosen(stage(ended, "a", 1, success), []rerunTarget{stage(ended, "a", 1, success)}, true))
	require.Equal(t, "its last stage", chosen(stage(ended, "b", 2, success),
		[]rerunTarget{stage(ended, "a", 1, success), stage(ended, "b", 2, success)}, true), "of a given deployment")
}
