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
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/chantest"
)

func (w *world) nextLook() *agentv1.Look {
	w.t.Helper()
	return chantest.Receive(w.t, w.plane.looks)
}

// slow moves the clock until looks that go on are slow.
func (w *world) slow() {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return w.clock.waits(time.Second, 30*time.Second) }, time.Minute,
		time.Millisecond)
	w.clock.move(30 * time.Second)
}

func TestALookThatTakesLongGoesOnAndTheLastStateStays(t *testing.T) {
	t.Parallel()
	cloud := &plugin{name: "cloud", state: synced, health: healthy, hold: make(chan struct{})}
	w := newWorld(t, cloud)
	w.plane.set(deployed("web", "cloud"))
	w.start()
	began := w.clock.Now()
	w.slow()
	look := w.nextLook()
	require.Equal(t, "web", look.GetApplicationId())
	require.Equal(t, began, look.GetStartedAt().AsTime().In(began.Location()))
	require.Nil(t, look.GetEndedAt(), "it goes on")
	w.clock.move(5 * time.Minute)
	require.Empty(t, w.plane.live, "nothing is said of what was not looked at")
	require.Empty(t, w.plane.sync)
	require.Len(t, cloud.asked(), 1, "one look at a time")

	cloud.hold <- struct{}{}
	require.Equal(t, model.ApplicationLiveStateSnapshot_HEALTHY, w.nextLive().GetHealthStatus())
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())
	ended := w.nextLook()
	require.NotNil(t, ended.GetEndedAt())
	require.Empty(t, ended.GetError())
}

func TestSlowLooksDoNotHoldTheOthersUp(t *testing.T) {
	t.Parallel()
	cloud := &plugin{name: "cloud", state: synced, health: healthy, hold: make(chan struct{})}
	near := &plugin{name: "near", state: synced, health: healthy}
	w := newWorld(t, cloud, near)
	for i := range 4 { // as many as there are at the same time
		w.plane.set(deployed(fmt.Sprint("slow-", i), "cloud"))
	}
	w.start()
	require.Eventually(t, func() bool { return len(cloud.asked()) == 4 }, time.Minute, time.Millisecond)
	w.plane.set(deployed("quick", "near"))
	w.reporter.ApplicationsChanged()
	require.Eventually(t, func() bool {
		w.clock.move(10 * time.Second)
		return len(near.asked()) > 0
	}, time.Minute, time.Millisecond)
	require.Equal(t, "quick", w.nextLive().GetApplicationId())
	close(cloud.hold)
}

func TestALookThatNeverEndsIsGivenUpAndNothingIsKnown(t *testing.T) {
	t.Parallel()
	cloud := &plugin{name: "cloud", state: synced, health: healthy, hold: make(chan struct{})}
	w := newWorld(t, cloud)
	w.plane.set(deployed("web", "cloud"))
	w.start()
	require.Eventually(t, func() bool { return w.clock.waits(9*time.Minute, 10*time.Minute) }, time.Minute,
		time.Millisecond)
	w.clock.move(10 * time.Minute)
	require.Equal(t, model.ApplicationLiveStateSnapshot_UNKNOWN, w.nextLive().GetHealthStatus())
	state := w.nextSync().GetState()
	require.Equal(t, model.ApplicationSyncStatus_UNKNOWN, state.GetStatus())
	require.Equal(t, "the look at the live state took too long: it was given 10m0s", state.GetReason())
}

func TestATimeoutWithinALookIsNotThatOfTheLook(t *testing.T) {
	t.Parallel()
	late := status.Error(codes.DeadlineExceeded, "no answer in time")
	for name, c := range map[string]struct {
		fail func(*world, *plugin)
		want string
	}{
		"a plugin's own call": {
			func(_ *world, near *plugin) { near.answer(synced, healthy, late) }, "ask plugin near: no answer in time",
		},
		"a call to the control plane": {
			func(w *world, _ *plugin) { w.plane.failLive(late) }, "report the live state: no answer in time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near := &plugin{name: "near", state: synced, health: healthy}
			w := newWorld(t, near)
			w.plane.set(deployed("web", "near"))
			w.start()
			_, _ = w.nextLive(), w.nextSync()
			c.fail(w, near)
			w.clock.move(time.Second) // enough after the last look, and not again after this one
			w.reporter.LookNow([]*agentv1.LookOrder{{ApplicationId: "web", Number: 1}})
			require.Equal(t, c.want, w.nextLook().GetError())
			require.Empty(t, w.plane.live, "one failure casts no doubt on the last known state")
			require.Empty(t, w.plane.sync)
		})
	}
}

func TestAUserHasAnApplicationLookedAt(t *testing.T) {
	t.Parallel()
	near := &plugin{name: "near", state: synced, health: healthy}
	w := newWorld(t, near)
	w.plane.set(deployed("web", "near"))
	fresh := deployed("new", "near")
	fresh.MostRecentlySuccessfulDeployment = nil
	w.plane.set(fresh)
	w.plane.set(deployed("dark"))
	w.start()
	_, _ = w.nextLive(), w.nextSync()
	require.Zero(t, near.askedFresh())

	order := func(id string, number uint64) {
		w.reporter.LookNow([]*agentv1.LookOrder{{ApplicationId: id, Number: number}})
	}
	answer := func() *agentv1.Look {
		require.Eventually(t, func() bool { w.clock.move(time.Second); return len(w.plane.looks) > 0 }, time.Minute,
			time.Millisecond)
		return w.nextLook()
	}
	order("web", 7)
	look := answer()
	require.EqualValues(t, 7, look.GetNumber())
	require.NotNil(t, look.GetEndedAt())
	require.Empty(t, look.GetError())
	require.Equal(t, 1, near.askedFresh(), "the plugin does not answer with what it remembers")
	_, _ = w.nextLive(), w.nextSync()

	near.answer(synced, healthy, errors.New("no cluster"))
	order("web", 8)
	require.Equal(t, "ask plugin near: no cluster", answer().GetError())
	order("new", 9)
	require.Equal(t, "the application was not deployed yet", answer().GetError())
	order("dark", 10)
	require.Equal(t, "no plugin of the application reports live states", answer().GetError())
	order("gone", 11)
	require.Equal(t, "piped does not deploy such an application, or it is disabled", answer().GetError())
}
