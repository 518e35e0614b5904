// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestOfMuchProgressTheFirstAndTheLastAreSent(t *testing.T) {
	t.Parallel()
	const steps = 20_000
	shown := make(chan struct{})
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Client.Progress(sdk.Progress{Total: steps, Text: "first"})
		<-shown
		for i := range steps {
			req.Client.Progress(sdk.Progress{Done: int64(i + 1), Total: steps, Text: "objects\nand more"})
		}
		return sdk.Success, nil
	}), wiretest.Options{})
	var puts atomic.Int32
	h.Piped.OnCall(func(method string) error {
		if strings.HasPrefix(method, "PutStageMetadata") {
			puts.Add(1)
		}
		return nil
	})
	ended := h.Go(t.Context(), t, "TEST", "{}")
	h.Piped.Wait(t, "the first progress", func() bool {
		return h.Piped.StageMetadata("test")[sdk.ProgressMetadataKey] == `{"done":0,"total":20000,"text":"first"}`
	})
	close(shown)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
	require.Equal(t, map[string]string{
		sdk.ProgressMetadataKey: `{"done":20000,"total":20000,"text":"objects"}`,
		sdk.DisplayMetadataKey:  "20000 of 20000: objects",
	}, h.Piped.StageMetadata("test"))
	require.Less(t, int(puts.Load()), steps/100)
}

func TestProgressLeavesTheTextOfThePluginAlone(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		err := req.Client.Display(ctx, "my own words")
		req.Client.Progress(sdk.Progress{Done: 40, Total: 100})
		return sdk.Success, err
	}), wiretest.Options{})
	h.Execute(t, "TEST", "{}")
	require.Equal(t, "my own words", h.Piped.StageMetadata("test")[sdk.DisplayMetadataKey])
	require.Equal(t, `{"done":40,"total":100}`, h.Piped.StageMetadata("test")[sdk.ProgressMetadataKey])
}

func TestAPipedThatTakesNoProgressFailsNoStage(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, executing(func(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		req.Client.Progress(sdk.Progress{Done: 1})
		return sdk.Success, nil
	}), wiretest.Options{})
	h.Piped.OnCall(func(method string) error {
		if strings.HasPrefix(method, "PutStageMetadata") {
			return errors.New("not now")
		}
		return nil
	})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "TEST", "{}"))
}

func TestAStageThatFailsReportsWhatTheEnvironmentLacks(t *testing.T) {
	t.Parallel()
	missing := sdk.WithCause(errors.New("no matches for kind Certificate"),
		sdk.Cause{Kind: sdk.CauseNoCRD, Place: "a.yaml:2"})
	var err error
	h := wiretest.Start(t, executing(func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		return sdk.Failure, err
	}), wiretest.Options{})
	err = errors.Join(missing, errors.New("a mistake"))
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, "TEST", "{}"))
	require.NotContains(t, h.Piped.StageMetadata("test"), sdk.CauseMetadataKey)
	err = missing
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, "TEST", "{}"))
	require.JSONEq(t, `{"kind":"NO_CRD","place":"a.yaml:2"}`, h.Piped.StageMetadata("test")[sdk.CauseMetadataKey])
}

func TestProgressInWords(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]sdk.Progress{
		"30%: pods":    {Done: 30, Total: 100, Text: "pods"},
		"3 of 7: pods": {Done: 3, Total: 7, Text: "pods"},
		"3: pods":      {Done: 3, Text: "pods"},
		"pods":         {Text: "pods"},
		"0 of 7":       {Total: 7},
		"":             {},
	} {
		require.Equal(t, want, p.String())
	}
}

func TestResultsAtTargetsAreShown(t *testing.T) {
	t.Parallel()
	atWork := make(chan struct{})
	h := startEverywhere(t, 1, func(_ context.Context, target sdk.DeployTarget[fleetTarget]) error {
		if target.Name == "one" {
			<-atWork
			return errors.New("no route\nmore words")
		}
		return nil
	})
	ended := h.Go(t.Context(), t, "FLEET_SYNC", "{}")
	const one, two = `[{"name":"one","status":`, `,{"name":"two","status":`
	h.Piped.Wait(t, "the work at the first target", func() bool {
		return h.Piped.StageMetadata("fleet_sync")[sdk.TargetsMetadataKey] == one+`"RUNNING"}`+two+`"NOT_STARTED"}]`
	})
	close(atWork)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, <-ended)
	require.Equal(t, one+`"FAILURE","detail":"no route"}`+two+`"SUCCESS"}]`,
		h.Piped.StageMetadata("fleet_sync")[sdk.TargetsMetadataKey])
}
