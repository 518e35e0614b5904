// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package strategy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
)

const base = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry:5000/app:v1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {a: b}
`

func parse(t *testing.T, text string) []manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte(text), "a.yaml")
	require.NoError(t, err)
	return m
}

func TestTheStrategyFollowsWhatHasChanged(t *testing.T) {
	t.Parallel()
	configOnly := base[strings.Index(base, "---"):]
	statefulSet := strings.ReplaceAll(base, "Deployment", "StatefulSet")
	tests := map[string]struct {
		before, after string
		refs          []config.Reference
		pipeline      bool
		summary       string
	}{
		"nothing": {before: base, after: base,
			summary: "Quick sync by applying all manifests: no pod template and no configuration changes"},
		"an image": {before: base, after: strings.Replace(base, ":v1", ":v2", 1), pipeline: true,
			summary: "Sync progressively because of updating image app from v1 to v2"},
		"another image": {before: base, after: strings.Replace(base, "app:v1", "other:v1", 1),
			pipeline: true, summary: "Sync progressively because of updating image registry:5000/app:v1 to " +
				"registry:5000/other:v1"},
		"an image of another registry": {before: base,
			after: strings.Replace(base, "registry:5000/app:v1", "registry:5001/app:v2", 1), pipeline: true,
			summary: "Sync progressively because of updating image registry:5000/app:v1 to registry:5001/app:v2"},
		"a digest next to the same tag": {before: strings.Replace(base, ":v1", ":v1@sha256:aa", 1),
			after: strings.Replace(base, ":v1", ":v1@sha256:bb", 1), pipeline: true,
			summary: "Sync progressively because of updating image registry:5000/app:v1@sha256:aa to " +
				"registry:5000/app:v1@sha256:bb"},
		"a digest": {before: strings.Replace(base, ":v1", "@sha256:aa", 1),
			after: strings.Replace(base, ":v1", "@sha256:bb", 1), pipeline: true,
			summary: "Sync progressively because of updating image app from sha256:aa to sha256:bb"},
		"a tag for none": {before: strings.Replace(base, "app:v1", "app", 1), after: base, pipeline: true,
			summary: "Sync progressively because of updating image app from latest to v1"},
		"the same image under its full name": {before: strings.Replace(base, "registry:5000/app:v1", "nginx:1", 1),
			after: strings.Replace(base, "registry:5000/app:v1", "docker.io/library/nginx:2", 1), pipeline: true,
			summary: "Sync progressively because of updating image nginx from 1 to 2"},
		"a pod label": {before: base,
			after: strings.Replace(base, "labels: {app: web}", "labels: {app: web, x: y}", 1), pipeline: true,
			summary: "Sync progressively because of the changed pod template of Deployment web"},
		"configuration": {before: base, after: strings.Replace(base, "a: b", "a: c", 1),
			pipeline: true, summary: "Sync progressively because ConfigMap conf was changed"},
		"less configuration": {before: base, after: base[:strings.Index(base, "---")],
			pipeline: true, summary: "Sync progressively because there are 0 ConfigMaps and Secrets instead of 1"},
		"other configuration": {before: base,
			after: strings.Replace(base, "name: conf", "name: conf2", 1), pipeline: true,
			summary: "Sync progressively because ConfigMap conf2 is new"},
		"replicas": {before: base,
			after:   strings.Replace(base, "replicas: 2", "replicas: 5", 1),
			summary: "Quick sync to scale Deployment/web from 2 to 5"},
		"no new workload": {before: base, after: configOnly,
			summary: "Quick sync because the new commit has no workload"},
		"no old workload": {before: configOnly, after: base,
			summary: "Quick sync because the running commit has no workload"},
		"a StatefulSet that is not referred to": {before: statefulSet,
			after:   strings.Replace(statefulSet, ":v1", ":v2", 1),
			summary: "Quick sync because the new commit has no workload"},
		"a StatefulSet that is referred to": {before: statefulSet, after: strings.Replace(statefulSet, ":v1", ":v2", 1),
			pipeline: true,
			refs:     []config.Reference{{Kind: "StatefulSet"}},
			summary:  "Sync progressively because of updating image app from v1 to v2"},
		"an empty map for none": {before: base,
			after:   strings.Replace(base, "spec: {containers", "spec: {securityContext: {}, containers", 1),
			summary: "Quick sync by applying all manifests: no pod template and no configuration changes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strategy.Decide(parse(t, tt.before), parse(t, tt.after), tt.refs)
			require.Equal(t, strategy.Decision{Pipeline: tt.pipeline, Summary: tt.summary}, got)
		})
	}
}

func TestEachImageIsAVersionOnce(t *testing.T) {
	t.Parallel()
	text := base + "---\n" + strings.Replace(base[:strings.Index(base, "---")], "name: web", "name: web2", 1) +
		"---\n" + strings.NewReplacer("Deployment", "StatefulSet", "app:v1",
		"db@sha256:abc").Replace(base[:strings.Index(base, "---")])
	images := strategy.Versions(parse(t, text), nil)
	require.Len(t, images, 2)
	require.Equal(t, "v1", images[0].Version())
	require.Equal(t, "sha256:abc", images[1].Version())
	require.Len(t, strategy.Versions(parse(t, text), []config.Reference{{Kind: "Deployment", Name: "web2"}}), 1)
}
