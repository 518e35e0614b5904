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
	ended, under := &deckv1.Deployment{CompletedAt: at(1)}, &deckv1.Deployment{CreatedAt: at(9)}
	newer := &deckv1.Deployment{CreatedAt: at(5), CompletedAt: at(6)}
	stage := func(of *deckv1.Deployment, id string, started int64, status deckv1.StageStatus) rerunTarget {
		return rerunTarget{of, &deckv1.Stage{Id: id, StartedAt: at(started), Status: status}}
	}
	for name, c := range map[string]struct {
		all  []rerunTarget
		want string
	}{
		"none":         {nil, ""},
		"the newest":   {[]rerunTarget{stage(ended, "a", 1, success), stage(ended, "b", 2, success)}, "b"},
		"a failed one": {[]rerunTarget{stage(ended, "a", 1, failure), stage(ended, "b", 2, success)}, "a"},
		"none that failed in an older deployment": {
			[]rerunTarget{stage(newer, "a", 6, success), stage(ended, "b", 2, failure)}, "a"},
		"the newest failed one": {[]rerunTarget{stage(ended, "a", 1, failure), stage(ended, "b", 2, failure)}, "b"},
		"not one that may run":  {[]rerunTarget{stage(ended, "a", 1, success), stage(under, "b", 2, failure)}, "a"},
	} {
		require.Equal(t, c.want, newestToRerun(c.all).stage.GetId(), name)
	}
}
