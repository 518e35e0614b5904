// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestWhatAFailedDeploymentLeavesInAnObjectOfOthersIsSaid(t *testing.T) {
	t.Parallel()
	item := inventory.Item{Key: manifest.Key{Kind: "ConfigMap", Namespace: "prod", Name: "conf"}}
	require.Equal(t, "- ConfigMap prod/conf: is kept, since it was there before this deployment applied it; it is "+
		"not part of the application. The fields that commit abcdef0 has keep that commit's values, because what they "+
		"were before is not known\n  next step: set its former values again: kubectl edit configmap/conf -n prod",
		keptText(item, "abcdef0123456789"))
	item.Key = manifest.Key{Group: "apps", Kind: "Deployment", Name: "web"}
	item.Meta.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}
	require.Contains(t, keptText(item, "abcdef0123456789"), "which may be those of: kubectl apply view-last-applied "+
		"deployment.apps/web")
}

func TestWhatADeploymentHasTakenOverIsBoundedAndNothingOfItIsForgotten(t *testing.T) {
	t.Parallel()
	taken := takenOver{}
	marks := manifest.Marks{Labels: map[string]string{manifest.LabelApplication: "shop"}}
	for i := range maxFound {
		require.False(t, taken.has("later"))
		taken.add(types.UID(strconv.Itoa(i)), marks)
	}
	require.Len(t, taken, maxFound)
	taken.add("0", manifest.Marks{})
	require.Equal(t, "shop", taken["0"].Application(), "what was noted first stays")
	require.Empty(t, taken[types.UID(strconv.Itoa(maxTakenOver))].Application())
	require.False(t, taken.has("later"))
	taken.add("one more", marks)
	taken.add("and another", marks)
	require.True(t, taken.has("later"))
	require.Len(t, taken, maxFound+1)
}
