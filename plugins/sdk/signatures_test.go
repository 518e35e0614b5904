// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// serveBriefly starts a plugin and stops it at once; the error is why it did not start.
func serveBriefly(t *testing.T, plugin sdk.Plugin, settings sdk.Settings) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	return sdk.Serve(ctx, plugin, sdk.ServeOptions{
		Settings: settings, PipedAddress: "localhost:1", Listener: listener, GracePeriod: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
}

type (
	wrongStart    struct{ stagePlugin }
	wrongClose    struct{ stagePlugin }
	wrongOnce     struct{ stagePlugin }
	wrongState    struct{ *fleet }
	pointerSource struct{ stagePlugin }
	driftAlone    struct{ stagePlugin }
	checked       struct{}
)

func (wrongStart) Start(context.Context) error                                                  { return nil }
func (wrongClose) Close()                                                                       {}
func (wrongOnce) Once(string, ...int) (bool, error)                                             { return false, nil }
func (*pointerSource) Sources(string) sdk.Sources                                               { return sdk.NoSources }
func (driftAlone) LivestateChanges() *sdk.LivestateChanges                                      { return nil }
func (checked) Validate() bool                                                                  { return true }
func (wrongState) GetLivestate(context.Context, *sdk.LivestateRequest[sdk.None, checked, bool]) {}

type checkedPlugin struct{}

func (checkedPlugin) Stages() []string { return []string{"TEST"} }

func (checkedPlugin) BuildPipelineStages(context.Context, *sdk.PipelineRequest[checked]) ([]sdk.Stage, error) {
	return nil, nil
}

func (checkedPlugin) ExecuteStage(context.Context, *sdk.StageRequest[checked]) (sdk.Result, error) {
	return sdk.Success, nil
}

func TestOptionalMethodsWithWrongSignaturesAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	for want, plugin := range map[string]sdk.Plugin{
		"method Start of sdk_test.wrongStart has the wrong signature, so the SDK cannot call it: it is " +
			"Start(context.Context) error, want Start(context.Context, *sdk.Env[sdk.None, sdk.None]) error\n" +
			"next step: correct the signature, which is that of sdk.Starter, or rename the method": sdk.ForStages(
			wrongStart{}),
		"it is Close(), want Close() error\n":                                           sdk.ForStages(&wrongClose{}),
		"it is Once(string, []int) (bool, error), want Once(string) bool\n":             sdk.ForStages(wrongOnce{}),
		"method Sources of *sdk_test.pointerSource has a pointer receiver, so":          sdk.ForStages(pointerSource{}),
		"sdk_test.driftAlone has GetDrift or LivestateChanges without GetLivestate, so": sdk.ForStages(driftAlone{}),
		"it is Validate() bool, want Validate() error\n":                                sdk.ForStages(checkedPlugin{}),
		"it is GetLivestate(context.Context, *sdk.LivestateRequest[sdk.None, sdk_test.checked, bool]), want " +
			"GetLivestate(context.Context, *sdk.LivestateRequest[sdk_test.fleetConfig, sdk_test.fleetTarget, " +
			"sdk_test.fleetApp]) (*sdk.Livestate, error)\n": sdk.ForDeployment[fleetConfig, fleetTarget, fleetApp](
			wrongState{newFleet()}),
	} {
		require.ErrorContains(t, serveBriefly(t, plugin, sdk.Settings{Name: "test"}), want)
	}
	require.NoError(t, serveBriefly(t, sdk.ForStages(&pointerSource{}), sdk.Settings{Name: "test"}))
}
