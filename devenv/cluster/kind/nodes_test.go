// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/devenv/cluster/nodes"
)

func TestANodeIsReadyWhenItHasSaidSoSinceItsStart(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 12, 0, 0, int(900*time.Millisecond), time.UTC)
	node := func(status string, said time.Duration, taints ...string) *nodes.Node {
		n := &nodes.Node{Status: nodes.Status{Conditions: []nodes.Condition{
			{Type: "DiskPressure", Status: "False"},
			{Type: nodes.ConditionReady, Status: status,
				LastHeartbeatTime: metav1.NewTime(started.Add(said).Truncate(time.Second))},
		}}}
		for _, taint := range taints {
			n.Spec.Taints = append(n.Spec.Taints, nodes.Taint{Key: taint})
		}
		return n
	}
	for name, test := range map[string]struct {
		node *nodes.Node
		want bool
	}{
		"ready":                        {node(nodes.StatusTrue, time.Minute), true},
		"ready within the same second": {node(nodes.StatusTrue, time.Millisecond), true},
		"ready before a restart":       {node(nodes.StatusTrue, -time.Minute), false},
		"not ready":                    {node("False", time.Minute), false},
		"ready and soon taking pods":   {node(nodes.StatusTrue, time.Minute, "node.kubernetes.io/not-ready"), true},
		"ready before it was lost":     {node(nodes.StatusTrue, time.Minute, nodes.Unreachable), false},
		"ready with a taint of its role": {node(nodes.StatusTrue, time.Minute,
			"node-role.kubernetes.io/control-plane"), true},
		"has not said anything until now": {&nodes.Node{}, false},
	} {
		require.Equal(t, test.want, isReady(test.node, started), name)
	}
}
