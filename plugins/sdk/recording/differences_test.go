// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// actor is a plugin that does what its configuration says: steps with an argument each, in their order.
type actor struct{}

func (actor) Stages() []string { return []string{"ACT"} }

func (actor) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config]) ([]sdk.Stage, error) {
	for step := range strings.SplitSeq(req.Config.Do, ",") {
		switch name, argument, _ := strings.Cut(step, ":"); name {
		case "refuse":
			return nil, status.Error(codes.FailedPrecondition, argument)
		case "deny":
			return nil, status.Error(codes.PermissionDenied, argument)
		case "stage":
			return []sdk.Stage{{Name: "ACT", Desc: argument}, {Name: "ACT", Index: 1}}, nil
		}
	}
	return sdk.CopyStages(req.Stages), nil
}

func (actor) ExecuteStage(ctx context.Context, req *sdk.StageRequest[config]) (sdk.Result, error) {
	for step := range strings.SplitSeq(req.Config.Do, ",") {
		name, argument, _ := strings.Cut(step, ":")
		key, value, _ := strings.Cut(argument, "=")
		var err error
		switch name {
		case "log":
			req.Log.Info(argument)
		case "good":
			req.Log.Success(argument)
		case "put":
			err = req.Client.PutMetadata(ctx, sdk.OfStage, map[string]string{key: value})
		case "keep":
			err = req.Client.PutMetadata(ctx, sdk.OfDeployment, map[string]string{key: value})
		case "tool":
			_, err = req.Client.InstallTool(ctx, argument, "1", "true")
		case "error":
			return sdk.Failure, fmt.Errorf("%s", argument)
		case "end":
			return map[string]sdk.Result{"failure": sdk.Failure, "skipped": sdk.Skipped}[argument], nil
		}
		if err != nil {
			return sdk.Failure, err
		}
	}
	return sdk.Success, nil
}

// acts are what a plugin does otherwise than asRecorded, and what is then not as recorded.
const asRecorded = "log:one,log:two,put:a=1,put:b=2,keep:c=3,tool:kubectl,tool:helm,refuse:not now"

var acts = map[string]struct{ do, what string }{
	"as recorded":         {asRecorded, ""},
	"missing-line":        {"log:one,put:a=1,put:b=2,keep:c=3,tool:kubectl,tool:helm,refuse:not now", "log"},
	"extra-line":          {"log:zero," + asRecorded, "log"},
	"other-line":          {strings.Replace(asRecorded, "log:two", "log:tow", 1), "log"},
	"other-order":         {strings.Replace(asRecorded, "log:one,log:two", "log:two,log:one", 1), "log"},
	"other-severity":      {strings.Replace(asRecorded, "log:two", "good:two", 1), "log"},
	"other-status":        {asRecorded + ",end:failure", "answer"},
	"skipped":             {asRecorded + ",end:skipped", "answer"},
	"failure":             {asRecorded + ",error:broken", "answer log"},
	"missing-metadata":    {strings.Replace(asRecorded, ",put:b=2", "", 1), "metadata"},
	"extra-metadata":      {strings.Replace(asRecorded, ",put:b=2", ",put:b=2,put:x=1", 1), "metadata"},
	"other-key":           {strings.Replace(asRecorded, "put:a=1", "put:A=1", 1), "metadata"},
	"other-value":         {strings.Replace(asRecorded, "put:a=1", "put:a=2", 1), "metadata"},
	"other-deployment":    {strings.Replace(asRecorded, "keep:c=3", "keep:c=4", 1), "metadata"},
	"missing-call":        {strings.Replace(asRecorded, ",tool:helm", "", 1), "tools"},
	"extra-call":          {strings.Replace(asRecorded, ",tool:helm", ",tool:helm,tool:helm", 1), "tools"},
	"other-call":          {strings.Replace(asRecorded, "tool:helm", "tool:kustomize", 1), "tools"},
	"other-code":          {strings.Replace(asRecorded, "refuse:", "deny:", 1), "status"},
	"other-error-message": {strings.Replace(asRecorded, "refuse:not now", "refuse:never", 1), "message of the error"},
	"answer-for-an-error": {strings.Replace(asRecorded, ",refuse:not now", "", 1), "status"},
	"order-of-tools":      {strings.Replace(asRecorded, "tool:kubectl,tool:helm", "tool:helm,tool:kubectl", 1), ""},
}

// actedFile records asRecorded.
func actedFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "acts.jsonl")
	h := wiretest.StartProgram(t, os.Args[0], wiretest.Options{Name: "actor",
		Config: config{Word: "one", Record: file, Do: asRecorded}})
	_, err := h.Plan(t.Context(), sdk.StageConfig{Name: "ACT"})
	require.ErrorContains(t, err, "not now")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-h.Go(t.Context(), t, "ACT", "{}"))
	require.NoError(t, h.Stop())
	return file
}

// TestReplayedActs is run by the next test.
func TestReplayedActs(t *testing.T) {
	file := os.Getenv("REPLAY_ACTS")
	if file == "" {
		return
	}
	for name, act := range acts {
		t.Run(name, func(t *testing.T) {
			sdktest.ReplayFile(t, sdk.ForStages(actor{}), file, sdktest.ReplayOptions{Config: config{Do: act.do}})
		})
	}
}

func TestEveryKindOfDifferenceFailsInAGoTestAsInTheCommand(t *testing.T) {
	t.Parallel()
	file := actedFile(t)
	test := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestReplayedActs$", "-test.v")
	test.Env = append(os.Environ(), "REPLAY_ACTS="+file)
	output, err := test.CombinedOutput()
	require.Error(t, err)
	failed := map[string]bool{}
	for line := range strings.Lines(string(output)) {
		_, name, found := strings.Cut(line, "--- FAIL: TestReplayedActs/")
		if act, call, below := strings.Cut(name, "/"); found && below {
			failed[act+"/"+strings.Fields(call)[0]] = true
		}
	}
	shown := map[string]bool{}
	for name, act := range acts {
		kinds := []string{}
		for _, outcome := range replayActs(t, file, act.do) {
			for _, d := range outcome.Differences {
				kinds = append(kinds, d.What)
				shown[strings.ReplaceAll(name+"/"+outcome.Name, " ", "_")] = true
			}
		}
		require.Equal(t, act.what, strings.Join(kinds, " "), name)
	}
	require.Equal(t, slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(failed)), "%s", output)
}

// replayActs plays the recording as the command does: to the program of a plugin.
func replayActs(t *testing.T, file, do string) []recording.Outcome {
	t.Helper()
	settings, err := json.Marshal(config{Do: do})
	require.NoError(t, err)
	rec := read(t, file)
	outcomes, err := recording.Replay(t.Context(), rec, recording.ReplayOptions{
		Start: func(piped *standin.Piped) (*standin.Program, error) {
			return standin.StartProgram(t.Context(), os.Args[0], "", piped.Address,
				sdk.Settings{Name: rec.Plugin, Config: settings}, t.Output())
		}})
	require.NoError(t, err)
	return outcomes
}
