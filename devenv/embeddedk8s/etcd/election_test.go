// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

func TestAMemberIsACandidateOnceItsLogIsApplied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state           raft.StateType
		applied, commit uint64
		want            bool
	}{
		"a new member":                       {raft.StateFollower, 0, 0, true},
		"a member that has read its log":     {raft.StateFollower, 404, 404, true},
		"a member that applies its log":      {raft.StateFollower, 0, 404, false},
		"a member that waits for its vote":   {raft.StateCandidate, 404, 404, false},
		"a member that is the leader by now": {raft.StateLeader, 404, 405, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s raft.Status
			s.RaftState, s.Applied, s.HardState = c.state, c.applied, raftpb.HardState{Commit: c.commit}
			require.Equal(t, c.want, canBeCandidate(s))
		})
	}
}
