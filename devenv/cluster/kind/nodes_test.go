// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestANodeIsReadyWhenItHasSaidSoSinceItsStart(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 12, 0, 0, int(900*time.Millisecond), time.UTC)
	node := func(status corev1.ConditionStatus, said time.Duration, taints ...string) *corev1.Node {
		n := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse},
			{Type: corev1.NodeReady, Status: status,
				LastHeartbeatTime: metav1.NewTime(started.Add(said).Truncate(time.Second))},
		}}}
		for _, taint := range taints {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: taint})
		}
		return n
	}
	for name, test := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"ready":                        {node(corev1.ConditionTrue, time.Minute), true},
		"ready within the same second": {node(corev1.ConditionTrue, time.Millisecond), true},
		"ready before a restart":       {node(corev1.ConditionTrue, -time.Minute), false},
		"not ready":                    {node(corev1.ConditionFalse, time.Minute), false},
		"ready and soon taking pods":   {node(corev1.ConditionTrue, time.Minute, corev1.TaintNodeNotReady), true},
		"ready before it was lost": {node(corev1.ConditionTrue, time.Minute, corev1.TaintNodeUnreachable),
			false},
		"ready with a taint of its role": {node(corev1.ConditionTrue, time.Minute,
			"node-role.kubernetes.io/control-plane"), true},
		"has not said anything until now": {&corev1.Node{}, false},
	} {
		require.Equal(t, test.want, isReady(test.node, started), name)
	}
}
