// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	pluginlivestate "github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/system/chantest"
)

const (
	synced    = model.ApplicationSyncStatus_SYNCED
	outOfSync = model.ApplicationSyncStatus_OUT_OF_SYNC
	healthy   = model.ResourceState_HEALTHY
)

func TestAnApplicationIsReportedAtTheStartAndAgainInTime(t *testing.T) {
	t.Parallel()
	kubernetes, other := &plugin{
		name: "kubernetes", state: synced, health: healthy,
	}, &plugin{name: "other", state: outOfSync, health: healthy}
	w := newWorld(t, kubernetes, other)
	w.plane.set(deployed("web", "kubernetes", "other"))
	w.start()

	live := w.nextLive()
	require.Equal(t, "web", live.GetApplicationId())
	require.Equal(t, "piped-1", live.GetPipedId())
	require.Equal(t, "project-1", live.GetProjectId())
	require.Equal(t, model.ApplicationKind_KUBERNETES, live.GetKind())
	require.Equal(t, model.ApplicationLiveStateSnapshot_HEALTHY, live.GetHealthStatus())
	require.Len(t, live.GetApplicationLiveState().GetResources(), 2)
	require.Positive(t, live.GetVersion().GetTimestamp())
	state := w.nextSync().GetState()
	require.Equal(t, outOfSync, state.GetStatus())
	require.Equal(t, "reason of other", state.GetReason())
	require.Equal(t, "deployment-1", state.GetHeadDeploymentId())
	chantest.Receive(t, w.drifts)
	request := kubernetes.asked()[0]
	require.Equal(t, []string{"local"}, request.GetDeployTargets())
	require.Equal(t, "c1", request.GetDeploySource().GetCommitHash())
	require.Equal(t, "web.pipecd.yaml", request.GetDeploySource().GetApplicationConfigFilename())

	require.Eventually(
		t, func() bool { return w.clock.waits(50*time.Second, 65*time.Second) }, time.Minute, time.Millisecond,
	)
	w.clock.move(66 * time.Second)
	w.nextLive()
	w.nextSync()
}

func TestAnApplicationThatWasRolledBackStaysOutOfSyncHoweverWellItRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
	trigger := &model.DeploymentTrigger{
		Commander: "carol", Commit: &model.Commit{Hash: "c111111111"},
	}
	back, forgotten := deployed("web", "kubernetes"), deployed("shop", "kubernetes")
	back.MostRecentlySuccessfulDeployment.Trigger = trigger
	forgotten.MostRecentlySuccessfulDeployment.Trigger = trigger
	forgotten.MostRecentlySuccessfulDeployment.DeploymentId = "deployment-2"
	forgotten.MostRecentlyTriggeredDeployment.DeploymentId = "deployment-2"
	w.plane.deployments = map[string]*model.Deployment{"deployment-1": {
		Id: "deployment-1", Trigger: trigger,
		MetadataV2: &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{
			KeyValues: map[string]string{"pipedeck/newer-commit": "c222222222"},
		}},
	}}
	w.plane.set(back)
	w.plane.set(forgotten)
	w.start()
	states := map[string]*model.ApplicationSyncState{}
	for range 2 {
		w.nextLive()
		r := w.nextSync()
		states[r.GetApplicationId()] = r.GetState()
	}
	require.Equal(t, synced, states["shop"].GetStatus(), "the control plane has forgotten what it went behind")
	require.Equal(t, outOfSync, states["web"].GetStatus())
	require.Equal(t, "Rolled back to c111111: out of sync until the next commit", states["web"].GetShortReason())
	require.Contains(t, states["web"].GetReason(),
		"carol deployed commit c111111 again; the newest commit in Git is c222222")
}

func TestOnlyThePluginsThatTheConfigurationNamesAreAsked(t *testing.T) {
	t.Parallel()
	one, many := &plugin{name: "kubernetes", state: outOfSync, health: healthy}, &plugin{
		name: "kubernetes_multicluster", state: synced, health: healthy,
	}
	w := newWorld(t, one, many)
	w.sources.content = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n  plugins:\n    " +
		"kubernetes_multicluster: {}\n    wait: {}\n"
	w.plane.set(deployed("web", "kubernetes", "kubernetes_multicluster"))
	w.start()
	resources := w.nextLive().GetApplicationLiveState().GetResources()
	require.Len(t, resources, 1)
	require.Equal(t, "kubernetes_multicluster", resources[0].GetPluginName())
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())
	require.Empty(t, one.asked())
}

func TestTheEndOfADeploymentCallsForALook(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
	never := deployed("web", "kubernetes")
	never.MostRecentlySuccessfulDeployment = nil
	w.plane.set(never)
	w.start()
	report := func(deploying bool) {
		_, err := w.client.ReportApplicationDeployingStatus(
			t.Context(),
			&pipedservice.ReportApplicationDeployingStatusRequest{ApplicationId: "web", Deploying: deploying},
		)
		require.NoError(t, err)
	}
	report(true)
	w.plane.set(deployed("web", "kubernetes"))
	w.clock.move(time.Second)
	report(false)
	require.Equal(t, "web", w.nextLive().GetApplicationId())
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())
}

func TestAListThatTakesLongIsNotMadeForEachDeployment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
	for _, id := range []string{"a", "b", "c"} {
		w.plane.set(deployed(id, "kubernetes"))
	}
	w.plane.listing = func() { w.clock.move(40 * time.Millisecond) }
	w.start()
	for range 3 {
		w.nextLive()
	}
	ended := func(id string) {
		_, err := w.client.ReportApplicationDeployingStatus(
			t.Context(), &pipedservice.ReportApplicationDeployingStatusRequest{ApplicationId: id},
		)
		require.NoError(t, err)
	}
	waits := func() {
		require.Eventually(
			t, func() bool { return w.clock.waits(350*time.Millisecond, 400*time.Millisecond) }, time.Minute,
			time.Millisecond,
		)
	}
	ended("a")
	waits()
	ended("b")
	ended("c")
	w.clock.move(time.Second)
	for range 3 {
		w.nextLive()
	}
	w.plane.mu.Lock()
	defer w.plane.mu.Unlock()
	require.Equal(t, 2, w.plane.lists, "one for the start, one for all that have ended since")
}

func TestAChangeThatAPluginReportsCallsForALook(t *testing.T) {
	t.Parallel()
	p := &plugin{
		name: "kubernetes", state: synced, health: healthy, changes: make(chan *pluginlivestate.AwaitChangesResponse),
	}
	w := newWorld(t, p)
	w.start()
	p.changes <- &pluginlivestate.AwaitChangesResponse{Instance: "1", Position: 1, All: true}
	p.changes <- &pluginlivestate.AwaitChangesResponse{
		Instance: "1", Position: 1,
	} // taken when the first one has had its effect
	w.plane.set(deployed("web", "kubernetes"))
	w.plane.set(deployed("api", "kubernetes"))
	w.reporter.ApplicationsChanged()
	first := []string{w.nextLive().GetApplicationId(), w.nextLive().GetApplicationId()}
	require.ElementsMatch(t, []string{"api", "web"}, first)
	w.nextSync()
	w.nextSync()

	p.answer(outOfSync, model.ResourceState_UNHEALTHY, nil)
	w.clock.move(time.Second)
	p.changes <- &pluginlivestate.AwaitChangesResponse{
		Instance: "1", Position: 2, ApplicationIds: []string{"web", "unknown"},
	}
	live := w.nextLive()
	require.Equal(t, "web", live.GetApplicationId())
	require.Equal(t, model.ApplicationLiveStateSnapshot_UNHEALTHY, live.GetHealthStatus())
	require.Equal(t, outOfSync, w.nextSync().GetState().GetStatus())
	// It is asked rarely from now on.
	require.Eventually(
		t, func() bool { return w.clock.waits(5*time.Minute, 11*time.Minute) }, time.Minute, time.Millisecond,
	)
	require.False(t, w.clock.waits(40*time.Second, 70*time.Second), "not every minute")

	w.clock.move(time.Second)
	p.changes <- &pluginlivestate.AwaitChangesResponse{Instance: "2", Position: 1, All: true}
	require.ElementsMatch(
		t, []string{"api", "web"}, []string{w.nextLive().GetApplicationId(), w.nextLive().GetApplicationId()},
	)
}

func TestTheLiveStateDoesNotAlwaysDecideAboutTheSyncState(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*model.Application){
		"a deployment is under way": func(a *model.Application) { a.Deploying = true },
		"the configuration is invalid": func(a *model.Application) {
			a.SyncState = &model.ApplicationSyncState{Status: model.ApplicationSyncStatus_INVALID_CONFIG}
		},
		"the last deployment has failed": func(a *model.Application) {
			a.MostRecentlyTriggeredDeployment.DeploymentId = "deployment-2"
			a.SyncState = &model.ApplicationSyncState{Status: outOfSync, HeadDeploymentId: "deployment-2"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
			a := deployed("web", "kubernetes")
			change(a)
			w.plane.set(a)
			w.start()
			require.Equal(t, "web", w.nextLive().GetApplicationId())
			require.Eventually(
				t, func() bool { return w.clock.waits(50*time.Second, 65*time.Second) }, time.Minute, time.Millisecond,
			)
			require.Empty(t, w.plane.sync)

			w.plane.set(deployed("web", "kubernetes"))
			w.clock.move(66 * time.Second)
			w.nextLive()
			require.Equal(t, synced, w.nextSync().GetState().GetStatus())
		})
	}
}

func TestTheLiveStateDecidesAfterADeploymentThatHasChangedNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
	a := deployed("web", "kubernetes")
	a.MostRecentlyTriggeredDeployment.DeploymentId = "cancelled"
	a.SyncState = &model.ApplicationSyncState{Status: outOfSync, HeadDeploymentId: "deployment-1"}
	w.plane.set(a)
	w.start()
	require.Equal(t, "web", w.nextLive().GetApplicationId())
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())
}

func TestApplicationsWithoutALiveStateAreLeftAlone(t *testing.T) {
	t.Parallel()
	none := &plugin{name: "none", err: status.Error(codes.Unimplemented, "unknown service")}
	p := &plugin{name: "kubernetes", state: synced, health: healthy}
	w := newWorld(t, none, p)
	disabled, never := deployed("disabled", "kubernetes"), deployed("never", "kubernetes")
	disabled.Disabled, never.MostRecentlySuccessfulDeployment = true, nil
	for _, a := range []*model.Application{
		disabled, never, deployed("stages only"), deployed("unable", "none"), deployed("both", "none", "kubernetes"),
	} {
		w.plane.set(a)
	}
	w.start()
	live := w.nextLive()
	require.Equal(t, "both", live.GetApplicationId())
	require.Len(t, live.GetApplicationLiveState().GetResources(), 1)
	require.Equal(t, "both", w.nextSync().GetApplicationId())
	// A look that has reported may not have planned the next one yet; the end of one that was ordered is reported.
	w.reporter.LookNow([]*agentv1.LookOrder{{ApplicationId: "both", Number: 1}})
	require.Eventually(
		t, func() bool { return w.clock.waits(time.Millisecond, 500*time.Millisecond) }, time.Minute, time.Millisecond,
	)
	w.clock.move(time.Second)
	require.Equal(t, "both", w.nextLive().GetApplicationId())
	require.Equal(t, "both", w.nextSync().GetApplicationId())
	require.Equal(t, "both", chantest.Receive(t, w.plane.looks).GetApplicationId())
	require.Eventually(t, func() bool { return len(none.asked()) >= 1 }, time.Minute, time.Millisecond)
	asked := len(none.asked())
	require.Eventually(
		t, func() bool { return w.clock.waits(50*time.Second, 65*time.Second) }, time.Minute, time.Millisecond,
	)
	w.clock.move(66 * time.Second)
	require.Equal(t, "both", w.nextLive().GetApplicationId())
	require.LessOrEqual(t, len(none.asked()), asked+1, "it is not asked for each look")
	require.Empty(t, w.plane.live)
}

func TestAFailureReportsNothingAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	good, bad := &plugin{name: "good", state: synced, health: healthy}, &plugin{
		name: "bad", state: synced, health: healthy, err: errors.New("no cluster"),
	}
	w := newWorld(t, good, bad)
	w.plane.refuse = 1
	w.plane.set(deployed("web", "good", "bad"))
	w.start()
	require.Eventually(
		t, func() bool { return w.clock.waits(time.Second/2, time.Second) }, time.Minute, time.Millisecond,
	)
	w.clock.move(time.Second)
	require.Eventually(t, func() bool { return len(bad.asked()) == 1 }, time.Minute, time.Millisecond)
	require.Empty(t, w.plane.live)
	bad.answer(synced, healthy, nil)
	require.Eventually(t, func() bool {
		w.clock.move(time.Second)
		return len(w.plane.live) > 0
	}, time.Minute, time.Millisecond)
	require.Len(t, w.nextLive().GetApplicationLiveState().GetResources(), 2)
}

func TestAStateThatCannotBeReadSeveralTimesIsUnknownUntilItCan(t *testing.T) {
	t.Parallel()
	web := &plugin{name: "kubernetes", state: synced, health: healthy}
	w := newWorld(t, web)
	w.plane.set(deployed("web", "kubernetes"))
	w.start()
	require.Equal(t, model.ApplicationLiveStateSnapshot_HEALTHY, w.nextLive().GetHealthStatus())
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())

	web.answer(synced, healthy, status.Error(codes.Internal, "no such cluster"))
	require.Eventually(t, func() bool {
		w.clock.move(time.Minute)
		return len(w.plane.sync) > 0
	}, time.Minute, time.Millisecond)
	require.GreaterOrEqual(t, len(web.asked()), 1+3, "one failure is no news")
	live, sync := w.nextLive(), w.nextSync().GetState()
	require.Equal(t, model.ApplicationLiveStateSnapshot_UNKNOWN, live.GetHealthStatus())
	resource := live.GetApplicationLiveState().GetResources()[0]
	require.Equal(t, model.ResourceState_UNKNOWN, resource.GetHealthStatus())
	require.Equal(t, "ask plugin kubernetes: no such cluster", resource.GetHealthDescription())
	require.Equal(t, model.ApplicationSyncStatus_UNKNOWN, sync.GetStatus())
	require.Equal(t, "ask plugin kubernetes: no such cluster", sync.GetReason(), "without the words of gRPC")

	web.answer(synced, healthy, nil)
	require.Eventually(t, func() bool {
		w.clock.move(time.Minute)
		for len(w.plane.sync) > 0 {
			sync = w.nextSync().GetState()
		}
		return sync.GetStatus() == synced
	}, time.Minute, time.Millisecond)
	for len(w.plane.live) > 0 {
		live = w.nextLive()
	}
	require.Equal(t, model.ApplicationLiveStateSnapshot_HEALTHY, live.GetHealthStatus())
}

func TestLooksAreBounded(t *testing.T) {
	t.Parallel()
	const many = 40
	p := &plugin{name: "kubernetes", state: synced, health: healthy, hold: make(chan struct{})}
	w := newWorld(t, p)
	for i := range many {
		w.plane.set(deployed(fmt.Sprint(i), "kubernetes"))
	}
	w.start()
	require.Eventually(t, func() bool { return len(p.asked()) == 4 }, time.Minute, time.Millisecond)
	seen := map[string]bool{}
	for range many {
		p.hold <- struct{}{}
		seen[w.nextLive().GetApplicationId()] = true
		w.nextSync()
	}
	require.Len(t, seen, many)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Equal(t, 4, p.top)
}

func TestAFloodOfChangesIsNotAFloodOfLooks(t *testing.T) {
	t.Parallel()
	p := &plugin{
		name: "kubernetes", state: synced, health: healthy, changes: make(chan *pluginlivestate.AwaitChangesResponse),
	}
	w := newWorld(t, p)
	w.plane.set(deployed("web", "kubernetes"))
	w.start()
	w.nextLive()
	for i := range 100 {
		p.changes <- &pluginlivestate.AwaitChangesResponse{
			Instance: "1", Position: int64(i + 1), ApplicationIds: []string{"web"},
		}
	}
	require.Eventually(
		t, func() bool { return w.clock.waits(time.Millisecond, 500*time.Millisecond) }, time.Minute, time.Millisecond,
	)
	require.Len(t, p.asked(), 1)
	w.clock.move(500 * time.Millisecond)
	w.nextLive()
	require.Len(t, p.asked(), 2)
}
