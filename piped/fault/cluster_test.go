// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

func TestAPluginGetsTheFaultsOfItsStageForCallsToTheCluster(t *testing.T) {
	t.Parallel()
	s := parse(t, "cluster: unavailable 3; delay 2s", "SYNC/cluster/apply Deployment web: conflict; hang", "SYNC: hang",
		"OTHER/cluster: forbidden")
	given := s.Give(stage("SYNC", "deploy"))
	out, _ := metadata.FromOutgoingContext(given.Context(t.Context()))
	message := &deployment.ClusterFaults{}
	require.NoError(t, proto.Unmarshal([]byte(out.Get("pipedeck-cluster-faults-bin")[0]), message))
	require.Len(t, message.GetFaults(), 4)
	first, second, third := message.GetFaults()[0], message.GetFaults()[1], message.GetFaults()[2]
	require.Equal(t, "cluster: unavailable 3", first.GetText())
	require.Equal(t, uint32(3), first.GetCount())
	require.Equal(t, 2*time.Second, second.GetDelay().AsDuration())
	require.Equal(t, []any{"apply", "Deployment", "web", uint32(1), deployment.ClusterFault_ACTION_CONFLICT},
		[]any{third.GetVerb(), third.GetKind(), third.GetName(), third.GetCount(), third.GetAction()})
	require.Nil(t, s.Give(stage("SYNC")), "another stage has them")
	require.Equal(t, "fault injected: hang", s.Begin(stage("SYNC")).String())
}

func TestFaultsThatDidNotHappenWaitForTheNextAttempt(t *testing.T) {
	t.Parallel()
	s := parse(t, "cluster: unavailable 3; delay 2s", "cluster/apply: 2*conflict")
	given := s.Give(stage("SYNC"))
	given.Settle(metadata.Pairs("pipedeck-cluster-faults", "0,2"))
	given.Settle(metadata.Pairs("pipedeck-cluster-faults", "")) // which changes nothing
	require.Equal(t, "fault injected: cluster: unavailable 3; cluster/apply: conflict: why", given.Explain("why"))
	require.Equal(t, []string{"cluster: delay 2s", "cluster/apply: conflict"}, rules(s))
	again := s.Give(stage("SYNC"))
	again.Settle(metadata.Pairs("pipedeck-cluster-faults", ""))
	require.Equal(t, "why", again.Explain("why"), "nothing has happened")
	require.Len(t, rules(s), 2)
	died := s.Give(stage("SYNC"))
	died.Settle(nil)
	require.Equal(t, "why", died.Explain("why"), "no one knows what has happened")
	require.Empty(t, rules(s))
	var none *Given
	none.Settle(nil)
	require.Equal(t, "why", none.Explain("why"))
	require.Equal(t, t.Context(), none.Context(t.Context()))
}

// rules are what waits.
func rules(s *Set) (all []string) {
	for _, f := range s.List() {
		all = append(all, f.GetRule())
	}
	return all
}
