// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// everywhere works at each deploy target.
type everywhere struct {
	*fleet
	limit int
	work  func(context.Context, sdk.DeployTarget[fleetTarget]) error
}

func (e *everywhere) ExecuteStage(ctx context.Context, req *fleetExecute) (sdk.Result, error) {
	return sdk.Success, sdk.ForEachTarget(ctx, req, e.limit, e.work)
}

func startEverywhere(t *testing.T, limit int,
	work func(context.Context, sdk.DeployTarget[fleetTarget]) error) *wiretest.Harness {
	t.Helper()
	return wiretest.Start(t, sdk.ForDeployment[fleetConfig, fleetTarget, fleetApp](&everywhere{
		newFleet(), limit, work}),
		fleetOptions())
}

func TestTargetsAreServedTogetherAsFarAsTheLimitGoes(t *testing.T) {
	t.Parallel()
	meeting := make(chan struct{})
	h := startEverywhere(t, 2, func(_ context.Context, target sdk.DeployTarget[fleetTarget]) error {
		if target.Name == "one" {
			meeting <- struct{}{} // ends only next to the other
			return nil
		}
		<-meeting
		return nil
	})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, "FLEET_SYNC", "{}"), h.Piped.Log("fleet_sync"))
	require.Contains(t, h.Piped.Log("fleet_sync"), "Deploy target one: done\n")
	require.Contains(t, h.Piped.Log("fleet_sync"), "Deploy target two: done\n")

	var order []string // without a lock: the race detector would see two at once
	h = startEverywhere(t, 1, func(_ context.Context, target sdk.DeployTarget[fleetTarget]) error {
		order = append(order, target.Name)
		return nil
	})
	h.Execute(t, "FLEET_SYNC", "{}")
	require.Equal(t, []string{"one", "two"}, order)
}

func TestATargetThatFailsOrPanicsDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail func() error
		says string
	}{
		"fails": {func() error { return errors.New("no route\nmore words") }, "no route"},
		"panics": {func() error { panic("lost") },
			"panic: lost at github.com/pipedeck/pipedeck/plugins/sdk_test/targets_test.go:69"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startEverywhere(t, 1, func(_ context.Context, target sdk.DeployTarget[fleetTarget]) error {
				if target.Name == "one" {
					return c.fail()
				}
				return nil
			})
			require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, "FLEET_SYNC", "{}"))
			log := h.Piped.Log("fleet_sync")
			require.Contains(t, log, "Deploy target one: failed: "+c.says+"\n")
			require.Contains(t, log, "Deploy target two: done\n")
			require.Contains(t, log, "1 of 2 deploy targets failed: deploy target one: "+c.says)
		})
	}
}

func TestTargetsAreNotBegunAfterTheEndOfTheStage(t *testing.T) {
	t.Parallel()
	begun := make(chan string, 2)
	h := startEverywhere(t, 1, func(ctx context.Context, target sdk.DeployTarget[fleetTarget]) error {
		begun <- target.Name
		<-ctx.Done()
		return sdk.StopCause(ctx)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, "FLEET_SYNC", "{}")
	require.Equal(t, "one", <-begun)
	cancel()
	<-ended
	h.Piped.Wait(t, "the end of the stage", func() bool { return h.Piped.Completed("fleet_sync") })
	require.Empty(t, begun, "the other")
}

// narrowed works at one of the targets of its request.
type narrowed struct {
	*fleet
	at   string
	work func(context.Context, sdk.DeployTarget[fleetTarget]) error
	// errs gets the errors of ForEachTarget.
	errs chan error
}

func (n *narrowed) ExecuteStage(ctx context.Context, req *fleetExecute) (sdk.Result, error) {
	one := *req
	one.Targets = slices.DeleteFunc(slices.Clone(req.Targets), func(t sdk.DeployTarget[fleetTarget]) bool {
		return t.Name != n.at
	})
	err := sdk.ForEachTarget(ctx, &one, 1, n.work)
	n.errs <- err
	return sdk.Success, err
}

func TestTheErrorOfOneTargetNamesItWhereTheApplicationHasMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ targets, want string }{
		"the only target of the application": {"two", "no route"},
		"one of several":                     {"one,two", "deploy target two: no route"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plugin := &narrowed{newFleet(), "two", func(context.Context, sdk.DeployTarget[fleetTarget]) error {
				return errors.New("no route")
			}, make(chan error, 1)}
			h := wiretest.Start(t, sdk.ForDeployment[fleetConfig, fleetTarget, fleetApp](plugin), fleetOptions())
			request := h.Request("FLEET_SYNC", "{}")
			request.GetInput().Deployment.DeployTargetsByPlugin["fleet"].DeployTargets = strings.Split(c.targets, ",")
			resp, err := h.Deployment.ExecuteStage(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
			require.Equal(t, c.want, (<-plugin.errs).Error())
			require.Contains(t, h.Piped.Log("fleet_sync"), "Deploy target two: failed\n")
		})
	}
}

func TestTheOnlyTargetThatWasNotBegunHasTheCauseOfTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ targets, before string }{
		"the only target of the application": {"two", ""},
		"one of several":                     {"one,two", "deploy target two: not begun: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plugin := &late{narrowed{newFleet(), "two", nil, make(chan error, 1)}, make(chan error, 1)}
			h := wiretest.Start(t, sdk.ForDeployment[fleetConfig, fleetTarget, fleetApp](plugin), fleetOptions())
			request := h.Request("FLEET_SYNC", "{}")
			request.GetInput().Deployment.DeployTargetsByPlugin["fleet"].DeployTargets = strings.Split(c.targets, ",")
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _, _ = h.Deployment.ExecuteStage(ctx, request) }()
			h.Piped.Wait(t, "the stage", func() bool { return h.Piped.Log("fleet_sync") != "" })
			cancel()
			require.Equal(t, c.before+(<-plugin.cause).Error(), (<-plugin.errs).Error())
		})
	}
}

// late begins with its target when its stage has ended.
type late struct {
	narrowed
	cause chan error
}

func (l *late) ExecuteStage(ctx context.Context, req *fleetExecute) (sdk.Result, error) {
	req.Log.Info("waits for the end")
	<-ctx.Done()
	l.cause <- sdk.StopCause(ctx)
	return l.narrowed.ExecuteStage(ctx, req)
}

func TestTheLogOfATargetShowsItsName(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForDeployment[fleetConfig, fleetTarget, fleetApp](&apart{newFleet()}), fleetOptions())
	h.Execute(t, "FLEET_SYNC", "{}")
	log := h.Piped.Log("fleet_sync")
	require.Contains(t, log, "[one] a line\n[one] and another")
	require.Contains(t, log, "[one] of a program\n[one] without an end")
	require.Contains(t, log, "[two] a line")
	require.Contains(t, log, "\nDeploy target one: done")
}

// apart works at each deploy target with the request for it alone.
type apart struct{ *fleet }

func (a *apart) ExecuteStage(ctx context.Context, req *fleetExecute) (sdk.Result, error) {
	return sdk.Success, sdk.ForEachTarget(ctx, req, 1,
		func(_ context.Context, target sdk.DeployTarget[fleetTarget]) error {
			at := req.At(target)
			if len(at.Targets) != 1 || at.Targets[0].Name != target.Name || len(req.Targets) != 2 {
				return errors.New("the request is not for one target")
			}
			at.Log.Infof("a line\nand %s", "another")
			_, err := at.Log.Write([]byte("of a program\nwithout an end"))
			at.Log.Success("done")
			return err
		})
}
