// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACommitToAFewOfManyApplicationsAsksForNothingAgain(t *testing.T) {
	t.Parallel()
	const many, few = 520, 10
	w := newWorld(t)
	for i := range many {
		w.application(fmt.Sprintf("app-%03d", i), fmt.Sprintf("  name: app-%03d\n", i))
	}
	w.commit("Add many")
	w.start()
	w.awaitDeployment(many)
	asked := 0
	w.plane.read(func() { asked = w.plane.calls["GetApplicationMostRecentDeployment"] })

	want := map[string]bool{}
	for i := range few {
		name := fmt.Sprintf("app-%03d", i*many/few)
		w.write(name+"/deploy.yaml", "x")
		want[name] = true
	}
	w.commit("Change a few")
	got := map[string]bool{}
	for i := range few {
		got[w.awaitDeployment(many+i+1).GetApplicationName()] = true
	}
	require.Equal(t, want, got)
	w.plane.read(func() {
		require.Equal(
			t, asked, w.plane.calls["GetApplicationMostRecentDeployment"],
			"all commits that were looked at are remembered",
		)
	})
	require.Equal(t, many+few, w.settle(), "no other is deployed")
}
