// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"testing"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

type place struct {
	Step  int      `json:"step"`
	Names []string `json:"names"`
}

const (
	placeKey sdk.StageKey[place]      = "place"
	countKey sdk.DeploymentKey[int64] = "count"
)

func TestTypedMetadataComesBackInTheNextAttemptAndInOtherStages(t *testing.T) {
	t.Parallel()
	plugin := executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		at, found, err := placeKey.Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		count, _, err := countKey.Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		req.Log.Infof("%v %d %v %d", found, at.Step, at.Names, count)
		if err := placeKey.Put(ctx, req.Client, place{Step: at.Step + 1, Names: append(at.Names, "n")}); err != nil {
			return sdk.Failure, err
		}
		if err := req.Client.Display(ctx, "one more"); err != nil {
			return sdk.Failure, err
		}
		return sdk.Success, countKey.Put(ctx, req.Client, count+1)
	})
	h := wiretest.Start(t, plugin, wiretest.Options{})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "ONE", "{}"))
	require.NoError(t, h.Stop())

	h = wiretest.Start(t, plugin, wiretest.Options{Piped: h.Piped})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "ONE", "{}"),
		"the same stage after a restart of the plugin")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TWO", "{}"))
	require.Equal(t, "false 0 [] 0\ntrue 1 [n] 1\n", h.Piped.Log("one"))
	require.Equal(t, "false 0 [] 2\n", h.Piped.Log("two"))
	require.Equal(t, `{"step":2,"names":["n","n"]}`, h.Piped.StageMetadata("one")["place"])
	require.Equal(t, "one more", h.Piped.StageMetadata("one")[sdk.DisplayMetadataKey])
}

func TestAStageThatAUserRunsOnceMoreDoesNotFindWhatItsRunsBeforePut(t *testing.T) {
	t.Parallel()
	const other sdk.StageKey[sdk.Text] = "other"
	plugin := executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		at, found, err := placeKey.Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		text, also, err := other.Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		count, _, err := countKey.Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		req.Log.Infof("%v %d %v %s %d", found, at.Step, also, text, count)
		if err := placeKey.Put(ctx, req.Client, place{Step: at.Step + 1}); err != nil {
			return sdk.Failure, err
		}
		if err := countKey.Put(ctx, req.Client, count+1); err != nil {
			return sdk.Failure, err
		}
		if req.Stage.Attempt == 1 || req.Stage.Attempt == 2 {
			return sdk.Success, nil
		}
		return sdk.Success, req.Client.PutMetadata(ctx, sdk.OfStage, map[string]string{"other": "kept"})
	})
	h := sdktest.Start(t, plugin, sdktest.Options{})
	for attempt, run := range []int{0, 1, 1, 3, 3} {
		_, err := h.Run(t.Context(), sdktest.Execution{Stage: "ONE", Attempt: attempt, Run: run})
		require.NoError(t, err)
	}
	require.Equal(t, "false 0 false  0\nfalse 0 false  1\ntrue 1 false  2\nfalse 0 false  3\ntrue 1 true kept 4\n",
		h.Piped.Log("one"))
	require.Equal(t, `{"step":2,"names":null}`, h.Piped.StageMetadata("one")["place"], "under its key, for others")
}

func TestMetadataOfAnotherTypeIsAnErrorThatDoesNotShowIt(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		_, _, err := placeKey.Get(ctx, req.Client)
		return sdk.Success, err
	}), wiretest.Options{})
	h.Piped.SetStageMetadata("test", "place", `{"step":"hush"}`)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, "TEST", "{}"))
	require.Equal(t, "metadata place does not hold a sdk_test.place: step must be a whole number, not a string\n",
		h.Piped.Log("test"))
}

func TestTheHarnessPlansWithPositions(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		return sdk.Success, nil
	}), wiretest.Options{})
	stages, err := h.Plan(t.Context(), sdk.StageConfig{Name: "TEST"},
		sdk.StageConfig{Name: "OTHER", Options: []byte(`{"a":1}`)})
	require.NoError(t, err)
	require.Len(t, stages, 2)
	require.Equal(t, "OTHER", stages[1].GetName())
	require.EqualValues(t, 1, stages[1].GetIndex())
}
