// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func TestTheFieldsOfADriftHaveThreeValuesInARealCluster(t *testing.T) {
	t.Parallel()
	a, c := newApp(t), webCommit()
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	a.edit(deployments, "web", `{"spec":{"replicas":3}}`, "scale", "kubectl")
	a.edit(secrets, "keys", `{"stringData":{"password":"battery staple"}}`)
	state := a.becomes(c, "edited", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), "Secret") &&
			strings.Contains(r.GetSyncState().GetReason(), "spec.replicas")
	})
	newest := webCommit()
	newest.Hash = "aaaaaaa2"
	newest.Files["web.yaml"] = strings.ReplaceAll(newest.Files["web.yaml"], "example.com/web:1", "example.com/web:2")

	answer, err := livestate.NewLivestateDriftServiceClient(a.h.Conn).GetDrift(t.Context(), &livestate.GetDriftRequest{
		Livestate: &livestate.GetLivestateRequest{
			PipedId: "piped-1", ApplicationId: a.id, ApplicationName: "demo", DeploySource: a.source(c),
			DeployTargets: []string{"local"},
		},
		NewestSource: a.source(newest),
	})
	require.NoError(t, err)
	kinds := map[string]string{}
	for _, r := range state.GetApplicationLiveState().GetResources() {
		kinds[r.GetId()] = r.GetResourceType()
	}
	fields := map[string]*livestate.FieldDrift{}
	for _, r := range answer.GetResources() {
		for _, f := range r.GetFields() {
			fields[kinds[r.GetResourceId()]+" "+f.GetPath()] = f
		}
	}
	require.Len(t, fields, 3, "%v", fields)
	replicas := fields["Deployment spec.replicas"]
	require.Equal(t, []string{"2", "3", "2", "kubectl"}, []string{replicas.GetGitValue(), replicas.GetLiveValue(),
		replicas.GetAppliedValue(), replicas.GetWriter()})
	require.Equal(t, livestate.FieldDrift_CHANGE_LIVE, replicas.GetChange())
	image := fields["Deployment spec.template.spec.containers[main].image"]
	require.Equal(t, livestate.FieldDrift_CHANGE_GIT, image.GetChange(), "%v", fields)
	require.Equal(t, `"example.com/web:2"`, image.GetGitValue())
	require.Equal(t, `"example.com/web:1"`, image.GetLiveValue())
	password := fields["Secret data.password"]
	require.True(t, password.GetSecret())
	require.Equal(t, livestate.FieldDrift_CHANGE_LIVE, password.GetChange())
	for _, secret := range []string{"horse", "staple", "YmF0dGVyeSBzdGFwbGU", "Y29ycmVjdCBob3JzZQ"} {
		require.NotContains(t, answer.String(), secret)
	}
}

func TestAMapThatAnApplyOwnsAsAWholeDriftsByWhatIsAdded(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	group := strings.ReplaceAll(a.namespace, "k8s-e2e-", "g") + ".example.com"
	a.removeCRD("boxes." + group)
	box := func(name, spec string) string {
		return "---\napiVersion: " + group + "/v1\nkind: Box\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
	}
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {kind: Box, plural: boxes}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                whole: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
                selector:
                  {type: object, x-kubernetes-map-type: atomic, x-kubernetes-preserve-unknown-fields: true}
                shared: {type: object, x-kubernetes-preserve-unknown-fields: true}
                podSelector: {type: object, x-kubernetes-preserve-unknown-fields: true}
                list: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}
                n: {type: integer, default: 3}
                o: {type: object, default: {}, properties: {x: {type: string, default: y}}}
` + box("filled", "{whole: {a: b}, shared: {a: b}, list: [{a: b}]}") +
		box("bare", "{selector: {}, podSelector: {}, o: {}}"),
	}}
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync", inSync)
	boxes := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "boxes"}
	a.edit(boxes, "filled", `{"spec": {"shared": {"x": "y"}}}`)
	a.edit(boxes, "bare", `{"spec": {"selector": {"matchLabels": {"x": "y"}}, "podSelector": {"x": "y"}}}`)
	a.becomes(c, "an empty map", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(),
			`spec.selector.matchLabels: nothing in Git, {"x":"y"} live`)
	})
	a.edit(boxes, "filled", `{"spec": {"whole": {"x": "y"}}}`)
	a.becomes(c, "a map with entries", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), `spec.whole.x: nothing in Git, "y" live`)
	})
	a.edit(boxes, "filled", `{"spec": {"list": [{"a": "b", "x": "y"}]}}`)
	state := a.becomes(c, "a list", func(r *livestate.GetLivestateResponse) bool {
		return strings.Contains(r.GetSyncState().GetReason(), `spec.list[0].x: nothing in Git, "y" live`)
	})
	require.NotContains(t, state.GetSyncState().GetReason(), "shared")
	require.NotContains(t, state.GetSyncState().GetReason(), "podSelector")
	a.succeeds("K8S_SYNC", "", c, nil)
	a.becomes(c, "in sync again", inSync)
}
