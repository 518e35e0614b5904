// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestTheAnswersOfTheLastLookAreTakenUnlessSomethingChanged(t *testing.T) {
	t.Parallel()
	q := Query{PipedID: "p", ApplicationID: "a"}
	before := []*wanted{{}}
	for name, c := range map[string]struct {
		status sdk.SyncStatus
		change func(*Store, *watched)
		wanted []*wanted
		taken  bool
	}{
		"after a drift": {status: sdk.OutOfSync, wanted: before, taken: true},
		"in sync":       {status: sdk.Synced, wanted: before},
		"other manifests since": {
			status: sdk.OutOfSync, wanted: []*wanted{{of: version{commit: "1"}}},
		},
		"an object changed since": {
			status: sdk.OutOfSync, wanted: before,
			change: func(_ *Store, w *watched) { w.changes.Add(1) },
		},
		"the cluster was replaced since": {
			status: sdk.OutOfSync, wanted: before,
			change: func(_ *Store, w *watched) { w.close() },
		},
		"taken before": {
			status: sdk.OutOfSync, wanted: before,
			change: func(s *Store, _ *watched) { s.takeLast(q, before) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewStore(nil, nil)
			t.Cleanup(s.Close)
			w := watch(nil, nil, nil)
			t.Cleanup(w.close)
			found := []answer{{sync: sdk.SyncState{Status: c.status}, looked: look{cluster: w}}}
			s.keepLast(q, before, found)
			if c.change != nil {
				c.change(s, w)
			}
			answers, known := s.takeLast(q, c.wanted)
			require.Equal(t, c.taken, known)
			require.Equal(t, c.taken, len(answers) == 1)
		})
	}
}
