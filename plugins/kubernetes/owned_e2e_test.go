// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// ownedBy is a ConfigMap that has an owner in Git.
func ownedBy(owner *unstructured.Unstructured, name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  ownerReferences: [{apiVersion: v1, "+
		"kind: %s, name: %s, uid: %s}]\n", name, owner.GetKind(), owner.GetName(), owner.GetUID())
}

func TestAnObjectThatHasAnOwnerInGitIsPartOfTheApplication(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	theirs := a.create(configMaps, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}}`)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"x.yaml": configMap("x")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	two := &commit{Hash: "aaaaaaa2", Files: with(one.Files, "owned.yaml", ownedBy(theirs, "owned"))}
	two.Files = with(two.Files, "own.yaml", ownedBy(a.get(configMaps, "x"), "own"))
	a.succeeds("K8S_SYNC", `{"prune": true}`, two, one)
	answer := a.becomes(two, "in sync", func(r *livestate.GetLivestateResponse) bool { return healthy(r) && inSync(r) })
	names := map[string]int{}
	for _, r := range answer.GetApplicationLiveState().GetResources() {
		names[r.GetName()]++
		require.Empty(t, r.GetParentIds(), r.GetName())
	}
	require.Equal(t, map[string]int{"x": 1, "owned": 1, "own": 1}, names)

	// Someone's controller has copied the marks of an object to one that it owns.
	copied := a.get(configMaps, "own").DeepCopy()
	copied.SetName("copied")
	copied.SetResourceVersion("")
	copied.SetUID("")
	data, err := copied.MarshalJSON()
	require.NoError(t, err)
	a.create(configMaps, string(data))

	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "Removed 2 resources")
	a.absent(configMaps, "owned")
	a.absent(configMaps, "own")
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", two, one)
	log = a.succeeds("K8S_SYNC", `{"prune": true}`, at("aaaaaaa3", one), two)
	require.Contains(t, log, "Pruned 2 resources")
	a.absent(configMaps, "owned")
	a.absent(configMaps, "own")
	a.get(configMaps, "copied")
	a.succeeds("K8S_SYNC", "", two, one)
	log = a.succeeds("K8S_REMOVE", "", one, nil) // by its labels: Git does not have them any more
	require.Contains(t, log, "3 resources deleted")
	a.absent(configMaps, "owned")
	a.get(configMaps, "theirs")
}
