// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestWhatAFailedDeploymentLeavesInAnObjectOfOthersIsSaid(t *testing.T) {
	t.Parallel()
	item := inventory.Item{Key: manifest.Key{Kind: "ConfigMap", Namespace: "prod", Name: "conf"}}
	require.Equal(t, "- ConfigMap prod/conf: is kept, since it is older than this deployment; it is not part of the "+
		"application. The fields that commit abcdef0 has keep that commit's values, because what they were before is "+
		"not known\n  next step: set its former values again: kubectl edit configmap/conf -n prod",
		keptText(item, "abcdef0123456789"))
	item.Key = manifest.Key{Group: "apps", Kind: "Deployment", Name: "web"}
	item.Meta.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}"}
	require.Contains(t, keptText(item, "abcdef0123456789"), "which may be those of: kubectl apply view-last-applied "+
		"deployment.apps/web")
}
