// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMovedApplicationGoesOnUnderItsID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	deployed(t, w, "")
	w.git("mv", "web", "site")
	head := w.commit("Move")
	d := w.awaitDeployment(3)
	require.Equal(t, appID("web"), d.GetApplicationId())
	require.Equal(t, "site", d.GetGitPath().GetPath())
	require.Equal(t, head, d.GetTrigger().GetCommit().GetHash())
	w.plane.read(func() {
		require.Len(t, w.plane.applications, 2)
		require.Empty(t, w.plane.states[appID("web")], "it was never orphaned")
	})
}

func TestAnApplicationThatMovedWhileNoPipedRanIsRecognised(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	deployed(t, w, "")
	w.stop()
	w.complete()
	w.git("mv", "web", "site")
	w.commit("Move")
	w.write("site/b.yaml", "b")
	w.commit("And change")
	w.start()
	require.Equal(t, appID("web"), w.awaitDeployment(3).GetApplicationId())
}

func TestANewApplicationWithTheNameOfADeletedOneIsNoMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.moves = true
	deployed(t, w, "")
	w.write("web/b.yaml", "b")
	w.write("web/c.yaml", "c")
	w.commit("More files")
	w.awaitDeployment(3)
	w.git("rm", "-rq", "web")
	w.application("site", "  name: web\n")
	w.write("site/x.yaml", "x")
	w.commit("Replace")
	require.Equal(t, appID("site"), w.awaitDeployment(4).GetApplicationId())
	require.Contains(t, w.state("web", invalid).GetShortReason(), "Orphaned: ")
}

func TestAControlPlaneThatKeepsPlacesGetsAMovedApplicationAsANewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deployed(t, w, "")
	w.git("mv", "web", "site")
	w.commit("Move")
	require.Equal(t, appID("site"), w.awaitDeployment(3).GetApplicationId())
	require.Contains(t, w.state("web", invalid).GetShortReason(), "Orphaned: ")
}
