// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestExclusionReadsTheAnnotationsOfOurselvesHelmArgoCDAndFlux(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, reason string }{
		{"pipecd.dev/prune", "false", "because of its annotation pipecd.dev/prune: false"},
		{"pipecd.dev/prune", "disabled", "because of its annotation pipecd.dev/prune: disabled"},
		{"pipecd.dev/prune", "true", ""},
		{"helm.sh/resource-policy", "keep", "because of its annotation helm.sh/resource-policy: keep"},
		{"helm.sh/resource-policy", " Keep ", "because of its annotation helm.sh/resource-policy: keep"},
		{"helm.sh/resource-policy", "delete", ""},
		{"argocd.argoproj.io/sync-options", "Prune=false",
			"because of its annotation argocd.argoproj.io/sync-options: Prune=false"},
		{"argocd.argoproj.io/sync-options", "Validate=false, Delete=false",
			"because of its annotation argocd.argoproj.io/sync-options: Delete=false"},
		{"argocd.argoproj.io/sync-options", "Prune=confirm",
			"because of its annotation argocd.argoproj.io/sync-options: Prune=confirm"},
		{"argocd.argoproj.io/sync-options", "PruneLast=true,Validate=false", ""},
		{"kustomize.toolkit.fluxcd.io/prune", "disabled",
			"because of its annotation kustomize.toolkit.fluxcd.io/prune: disabled"},
		{"kustomize.toolkit.fluxcd.io/prune", "enabled", ""},
	} {
		o := &metav1.ObjectMeta{Annotations: map[string]string{c.key: c.value}}
		require.Equal(t, c.reason, manifest.Exclusion(o), "%s: %s", c.key, c.value)
		manifest.RemoveExclusion(o)
		require.Empty(t, manifest.Exclusion(o), "%s: %s", c.key, c.value)
	}
	require.Contains(t,
		manifest.Exclusion(
			&metav1.ObjectMeta{Labels: map[string]string{"kustomize.toolkit.fluxcd.io/prune": "disabled"}}),
		"its label")
}

func TestRemoveExclusionLeavesTheOtherOptionsOfArgoCD(t *testing.T) {
	t.Parallel()
	o := &metav1.ObjectMeta{Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false," +
		"ServerSideApply=true", "a": "b"}}
	manifest.RemoveExclusion(o)
	require.Equal(t, map[string]string{"argocd.argoproj.io/sync-options": "ServerSideApply=true", "a": "b"},
		o.Annotations)
}

func TestADefinitionOfAChartsFolderIsExcludedUnlessItsAnnotationAllowsIt(t *testing.T) {
	t.Parallel()
	o := &metav1.ObjectMeta{}
	manifest.MarkChartCRD(o)
	require.True(t, manifest.IsChartCRD(o))
	require.Contains(t, manifest.Exclusion(o), "crds/ folder of a chart")
	o.Annotations["pipecd.dev/prune"] = "true"
	require.Empty(t, manifest.Exclusion(o))
}
