// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// reportSync has another part of piped report a sync state of web.
func (w *world) reportSync(status model.ApplicationSyncStatus) {
	w.t.Helper()
	_, err := w.client.ReportApplicationSyncState(w.t.Context(), &pipedservice.ReportApplicationSyncStateRequest{
		ApplicationId: "web", State: &model.ApplicationSyncState{Status: status, ShortReason: "of another part"},
	})
	require.NoError(w.t, err)
}

func TestALookThatBeganEarlierDoesNotReplaceAnInvalidConfiguration(t *testing.T) {
	t.Parallel()
	p := &plugin{name: "kubernetes", state: synced, health: healthy, hold: make(chan struct{})}
	w := newWorld(t, p)
	w.plane.set(deployed("web", "kubernetes"))
	w.start()
	require.Eventually(t, func() bool { return len(p.asked()) == 1 }, time.Minute, time.Millisecond)
	w.reportSync(model.ApplicationSyncStatus_INVALID_CONFIG)
	p.hold <- struct{}{}
	require.Equal(t, "web", w.nextLive().GetApplicationId())
	require.Eventually(
		t, func() bool { return w.clock.waits(50*time.Second, 65*time.Second) }, time.Minute, time.Millisecond,
	)
	require.Empty(t, w.plane.sync)

	w.reportSync(model.ApplicationSyncStatus_UNKNOWN) // calls for a look
	w.clock.move(time.Second)
	p.hold <- struct{}{}
	w.nextLive()
	require.Equal(t, synced, w.nextSync().GetState().GetStatus(), "the configuration is valid again")
}

func TestAnInvalidConfigurationThatIsReportedDuringAReportComesLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
	w.plane.set(deployed("web", "kubernetes"))
	var once sync.Once
	w.plane.reporting = func() {
		once.Do(func() { w.reportSync(model.ApplicationSyncStatus_INVALID_CONFIG) })
	}
	w.start()
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())
	last := w.nextSync()
	require.Equal(t, model.ApplicationSyncStatus_INVALID_CONFIG, last.GetState().GetStatus())
	require.Equal(t, "of another part", last.GetState().GetShortReason())
}

func TestAConfigurationThatAnEarlierPipedFoundInvalidIsLookedAtWhenItIsValidAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &plugin{name: "kubernetes", state: synced, health: healthy})
	web := deployed("web", "kubernetes")
	web.SyncState = &model.ApplicationSyncState{Status: model.ApplicationSyncStatus_INVALID_CONFIG}
	w.plane.set(web)
	w.start()
	w.nextLive()
	require.Empty(t, w.plane.sync)

	valid := deployed("web", "kubernetes")
	valid.SyncState = &model.ApplicationSyncState{Status: model.ApplicationSyncStatus_UNKNOWN}
	w.plane.set(valid)
	w.reportSync(model.ApplicationSyncStatus_UNKNOWN)
	w.clock.move(time.Second)
	require.Equal(t, synced, w.nextSync().GetState().GetStatus())
}

func TestAStateThatReplacesAnInvalidConfigurationIsComparedAgain(t *testing.T) {
	t.Parallel()
	p := &plugin{name: "kubernetes", state: model.ApplicationSyncStatus_OUT_OF_SYNC, health: healthy}
	w := newWorld(t, p)
	w.plane.set(deployed("web", "kubernetes"))
	w.start()
	require.Equal(t, p.state, w.nextSync().GetState().GetStatus())
	w.reportSync(model.ApplicationSyncStatus_INVALID_CONFIG)
	w.reportSync(synced) // as it was before it was broken
	w.clock.move(time.Second)
	require.Equal(t, p.state, w.nextSync().GetState().GetStatus())
}
