// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

func deckOf(objects ...proto.Message) *state.Deck {
	d := state.New()
	apply(d, objects...)
	return d
}

func apply(d *state.Deck, objects ...proto.Message) {
	for _, event := range decktest.Events(objects...) {
		d.Apply(event)
	}
}

func TestALaterObjectReplacesAnEarlierOne(t *testing.T) {
	t.Parallel()
	d := deckOf(append(decktest.Running(), decktest.Failed(), &deckv1.Synced{})...)
	require.True(t, d.Synced())
	require.Len(t, d.Deployments("app-1"), 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, d.Deployment("dep-1").GetStatus())
	require.Equal(t, "Preflight", d.Components()[0].GetName())
	require.Equal(t, "kubernetes", d.Plugins()[0].GetName())

	apply(d, &deckv1.Removed{ApplicationId: "app-1"}, &deckv1.Removed{PluginName: "wait"})
	require.Empty(t, d.Applications())
	for _, p := range d.Plugins() {
		require.NotEqual(t, "wait", p.GetName())
	}
}

// Whatever comes, Deploying is what the deployments say, and a list that was handed out stays as it is.
func TestWhatIsCountedAsItComesIsRight(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	d := state.Keeping(2)
	seen := map[bool]int{}
	for range 2000 {
		app := decktest.Application()
		app.Id = fmt.Sprint("app-", random.IntN(3))
		app.Name, app.Disabled = app.Id, random.IntN(2) == 0
		deployment := decktest.Canary()
		deployment.Id, deployment.ApplicationId = fmt.Sprint(app.Id, "-", random.IntN(4)), app.Id
		deployment.CreatedAt = decktest.At(float64(random.IntN(10)))
		deployment.Status = deckv1.DeploymentStatus(1 + random.IntN(7))
		before := d.Applications()
		copied := slices.Clone(before)
		apply(d, [][]proto.Message{
			{app}, {deployment}, {app, deployment}, {&deckv1.Removed{ApplicationId: app.Id}},
			{&deckv1.Reset{}, app, deployment, &deckv1.Synced{}},
		}[random.IntN(5)]...)
		require.Equal(t, copied, before)
		deploying := false
		for i := range 3 {
			for _, one := range d.Deployments(fmt.Sprint("app-", i)) {
				deploying = deploying || !state.Ended(one.GetStatus())
			}
		}
		require.Equal(t, deploying, d.Deploying())
		seen[deploying]++
	}
	require.Len(t, seen, 2, "both happened")
}

func TestPluginsOfSeveralPipedsAreKeptApart(t *testing.T) {
	t.Parallel()
	d := deckOf(
		&deckv1.Piped{Id: "p2", Name: "legacy"}, &deckv1.Piped{Id: "p1", Name: "work", Own: true},
		&deckv1.Plugin{Name: "wait", PipedId: "p2", Pid: 2}, &deckv1.Plugin{Name: "wait", PipedId: "p1", Pid: 1},
		&deckv1.Plugin{Name: "ecs", PipedId: "p2"},
	)
	require.Equal(t, "work", d.Pipeds()[0].GetName(), "the environment's own is first")
	var names []string
	for _, p := range d.Plugins() {
		names = append(names, d.PluginName(p))
		require.Same(t, p, d.Plugin(state.PluginKey(p)))
	}
	require.Equal(t, []string{"ecs", "wait of work", "wait of legacy"}, names)
	apply(d, &deckv1.Removed{PluginName: "wait", PipedId: "p1"})
	require.Len(t, d.Plugins(), 2)
	require.EqualValues(t, 2, d.Plugins()[1].GetPid())
	require.Equal(t, "wait", d.PluginName(d.Plugins()[1]))
}

func TestAfterAResetTheOldStateStaysUntilTheNewOneIsComplete(t *testing.T) {
	t.Parallel()
	d := deckOf(append(decktest.Running(), &deckv1.Synced{})...)
	app := decktest.Application()
	app.Id, app.Name = "app-2", "other"
	apply(d, &deckv1.Reset{}, app)
	require.Equal(t, "hello-world", d.Applications()[0].GetName())
	apply(d, &deckv1.Synced{})
	require.Len(t, d.Applications(), 1)
	require.Equal(t, "other", d.Applications()[0].GetName())
	require.Empty(t, d.Plugins())
}

func TestBeforeTheFirstCompleteStateEverythingShowsAtOnce(t *testing.T) {
	t.Parallel()
	d := deckOf(decktest.Environment(), &deckv1.Reset{}, decktest.Application())
	require.False(t, d.Synced())
	require.Len(t, d.Applications(), 1)
	require.Nil(t, d.Environment())
}

func TestOnlySoManyDeploymentsAreKept(t *testing.T) {
	t.Parallel()
	d := state.New()
	for i := range 250 {
		deployment := decktest.Canary()
		deployment.Id, deployment.CreatedAt = fmt.Sprintf("dep-%03d", i), decktest.At(float64(i))
		apply(d, deployment)
	}
	list := d.Deployments("app-1")
	require.Len(t, list, 100)
	require.Equal(t, "dep-249", list[0].GetId(), "the newest first")
	require.Nil(t, d.Deployment("dep-000"))
}

func TestReady(t *testing.T) {
	t.Parallel()
	part := func(name string, state deckv1.Component_State) *deckv1.Component {
		c := decktest.Component(0, name, "")
		c.State = state
		return c
	}
	ready, starting := deckv1.Component_STATE_READY, deckv1.Component_STATE_STARTING
	for name, c := range map[string]struct {
		objects []proto.Message
		want    bool
	}{
		"nothing known": {nil, false},
		"only the control plane": {[]proto.Message{part("Control plane", ready), part("piped", starting)},
			false},
		"control plane and agent": {[]proto.Message{part("control-plane", ready), part("Piped", ready),
			part("kubernetes", starting)}, true},
		"everything, by other names":      {[]proto.Message{part("a", ready), part("b", ready)}, true},
		"an application, whatever starts": {[]proto.Message{part("a", starting), decktest.Application()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, deckOf(c.objects...).Ready())
		})
	}
}

func TestStopping(t *testing.T) {
	t.Parallel()
	part := decktest.Component(0, "Kubernetes", "")
	part.State = deckv1.Component_STATE_STOPPED
	require.False(t, deckOf(part).Stopping())
	agent := decktest.Component(0, "piped", "")
	agent.State = deckv1.Component_STATE_STOPPED
	require.True(t, deckOf(part, agent).Stopping())
}

func TestEveryApplicationHasBeenBroughtToACommit(t *testing.T) {
	t.Parallel()
	head := func(app *deckv1.Application, commit string) bool {
		return commit == "8b21f00cafe5" || app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_SYNCED
	}
	piped := func(state deckv1.Component_State) *deckv1.Component {
		c := decktest.Component(0, "piped", "")
		c.State = state
		return c
	}
	succeeded := decktest.Canary()
	succeeded.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	older := decktest.Canary()
	older.Status, older.Commit.Hash = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, "0123456"
	olderFailed := decktest.Failed()
	olderFailed.Commit.Hash = "0123456"
	synced, invalid, outOfSync := decktest.Application(), decktest.Application(), decktest.Application()
	synced.Sync = deckv1.SyncStatus_SYNC_STATUS_SYNCED
	invalid.Sync = deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
	outOfSync.Sync = deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC
	for name, c := range map[string]struct {
		objects        []proto.Message
		settled        bool
		failed, broken int
	}{
		"no application yet":                  {nil, false, 0, 0},
		"no deployment yet":                   {[]proto.Message{synced}, false, 0, 0},
		"running":                             {[]proto.Message{synced, decktest.Canary()}, false, 0, 0},
		"succeeded":                           {[]proto.Message{synced, succeeded}, true, 0, 0},
		"failed":                              {[]proto.Message{outOfSync, decktest.Failed()}, true, 1, 0},
		"an older commit that is in sync":     {[]proto.Message{synced, older}, true, 0, 0},
		"an older commit that has to follow":  {[]proto.Message{outOfSync, older}, false, 0, 0},
		"an older failure that has to follow": {[]proto.Message{outOfSync, olderFailed}, false, 0, 0},
		"an agent that starts": {
			[]proto.Message{synced, succeeded, piped(deckv1.Component_STATE_STARTING)}, false, 0, 0},
		"an agent that runs": {
			[]proto.Message{synced, succeeded, piped(deckv1.Component_STATE_READY)}, true, 0, 0},
		"a configuration that is not valid": {[]proto.Message{invalid}, true, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deckOf(append(c.objects, &deckv1.Synced{})...)
			settled, failed, broken := d.SettledAt(head)
			require.Equal(t, c.settled, settled)
			require.Len(t, failed, c.failed)
			require.Len(t, broken, c.broken)
		})
	}
	settled, _, _ := deckOf(synced, succeeded).SettledAt(head)
	require.False(t, settled, "the state is not complete")

	settled, _, _ = deckOf(synced, &deckv1.Synced{}).SettledAt(head, synced.GetName())
	require.True(t, settled, "no commit deploys it")
	settled, _, _ = deckOf(synced, decktest.Canary(), &deckv1.Synced{}).SettledAt(head, synced.GetName())
	require.False(t, settled, "a user deploys it")
}

func TestACloneStaysAsItIs(t *testing.T) {
	t.Parallel()
	d := deckOf(decktest.Application(), decktest.Canary(), &deckv1.Synced{})
	clone := state.Clone(d)
	next := decktest.Canary()
	next.Id, next.CreatedAt = "dep-2", decktest.At(50)
	other := decktest.Application()
	other.Id, other.Name = "app-2", "other"
	apply(d, next, other, decktest.Failed(), decktest.Problems()[0])
	require.Equal(t, "dep-2", d.Newest("app-1").GetId())
	require.Equal(t, "dep-1", clone.Newest("app-1").GetId())
	require.True(t, clone.Deploying())
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, clone.Deployment("dep-1").GetStatus())
	require.Len(t, clone.Applications(), 1)
	require.Equal(t, "hello-world", clone.ApplicationName(clone.Applications()[0]))
	require.Empty(t, clone.Problems())
	require.True(t, clone.Synced())
}

func TestElapsed(t *testing.T) {
	t.Parallel()
	require.Equal(t, 42*time.Second, state.Elapsed(decktest.At(0), nil, decktest.Now()))
	require.Equal(t, 3*time.Second, state.Elapsed(decktest.At(1), decktest.At(4), decktest.Now()))
	require.Zero(t, state.Elapsed(nil, decktest.At(4), decktest.Now()))
	require.Zero(t, state.Elapsed(decktest.At(50), nil, decktest.Now()), "clocks of two processes may differ")
}
