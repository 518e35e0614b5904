// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

func TestASubscriptionHoldsEachRerunOnceAndNotTooMany(t *testing.T) {
	t.Parallel()
	s := NewWatcher(nil, nil, nil).Subscribe()
	for id := range uint64(maxReruns + 1) {
		s.add(Change{StageReruns: []*agentv1.StageRerun{{Id: id}}})
	}
	taken := s.Take().StageReruns
	require.Len(t, taken, maxReruns)
	require.EqualValues(t, maxReruns-1, taken[maxReruns-1].GetId())
	require.Empty(t, s.Take().StageReruns)
}
