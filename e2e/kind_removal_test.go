// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// configMap is one of an application, or of a user.
func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {color: blue}\n"
}

// removalStory removes one application while its neighbour and an object made by hand stay, then renames the neighbour,
// which takes its objects along, and removes it, too.
func removalStory() kindStory {
	files := map[string]string{}
	for _, app := range []string{"gone", "moved"} {
		maps.Copy(files, kindApplication(app, ""))
		files[app+"/settings.yaml"] = configMap(app)
	}
	return kindStory{files, func(c *tenant) {
		for _, app := range []string{"gone", "moved"} {
			c.await(app+" is healthy", func(e event) bool {
				return e.is("application", "name", app, "sync", "SYNCED", "health", "HEALTHY")
			})
		}
		byHand := c.createByHand("gone-by-hand")
		gone, moved := c.open("gone"), c.open("moved")
		id := c.app("moved")["id"].(string)
		before := c.owned(id)
		require.Len(c.t, before, 5, "a Deployment, a Service, a ConfigMap, a ReplicaSet and its pod: %v", before)

		c.delete("gone")
		c.seeing(gone, "v1")
		c.removes("gone")
		require.Equal(c.t, before, c.owned(id), "the neighbour is as it was")
		require.Equal(c.t, byHand, c.object(kindConfigMaps, "gone-by-hand").GetUID())

		visitors := newCrowdAt(c.t, moved, kindPace)
		commit := c.change("Rename moved", func(dir string) { gittest.Run(c.t, dir, "mv", "moved", "site") })
		c.await("it is deployed from the new directory", deployed("moved", "SUCCESS", "commit", commit))
		require.Equal(c.t, "site", c.app("moved")["path"])
		require.Equal(c.t, id, c.app("moved")["id"], "it is the same application")
		require.Equal(c.t, before, c.owned(id), "its objects come along as they are")
		visitors.asks(c.t, 100)
		for _, answers := range visitors.leave() {
			for _, answer := range answers {
				require.Equal(c.t, "v1", version(answer))
			}
		}
		c.delete("site")
		c.removes("moved")
		require.Equal(c.t, byHand, c.object(kindConfigMaps, "gone-by-hand").GetUID())
	}}
}

func (c *tenant) createByHand(name string) types.UID {
	c.t.Helper()
	created, err := c.objects.Resource(kindConfigMaps).Namespace("default").Create(c.t.Context(),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name, "labels": map[string]any{"app": "gone"}},
		}}, metav1.CreateOptions{})
	require.NoError(c.t, err)
	return created.GetUID()
}

// delete deletes a folder in Git.
func (c *tenant) delete(folder string) {
	c.t.Helper()
	c.change("Delete "+folder, func(dir string) { gittest.Run(c.t, dir, "rm", "-rq", folder) })
}

// removes removes an orphaned application with all that it has deployed.
func (c *tenant) removes(app string) {
	c.t.Helper()
	c.await(app+" is orphaned", func(e event) bool {
		return e.is("application", "name", app, "sync", "ORPHANED")
	})
	id := c.app(app)["id"].(string)
	require.NotEmpty(c.t, c.owned(id))
	r := c.pipedeck("remove", app, "--cascade")
	require.Zero(c.t, r.Code, r.Stdout+r.Stderr)
	waitUntil(c.t, app+" to be gone", func() bool { return c.app(app) == nil })
	waitUntil(c.t, "the objects of "+app+" to be gone", func() bool {
		return len(c.owned(id)) == 0 && len(listed[corev1.Pod](c, kindPods, app)) == 0
	})
}

// owned are the objects of an application, and what Kubernetes has made of them.
func (c *tenant) owned(id string) (found []string) {
	c.t.Helper()
	uids := map[types.UID]bool{}
	for _, resource := range []schema.GroupVersionResource{
		kindDeployments, kindServices, kindConfigMaps, kindReplicaSets, kindPods,
	} {
		list, err := c.objects.Resource(resource).Namespace("default").List(c.t.Context(), metav1.ListOptions{})
		require.NoError(c.t, err)
		for _, o := range list.Items {
			owners := o.GetOwnerReferences()
			if (o.GetLabels()["pipecd.dev/application"] == id && len(owners) == 0) ||
				(len(owners) == 1 && uids[owners[0].UID]) {
				uids[o.GetUID()] = true
				found = append(found, strings.Join([]string{o.GetKind(), o.GetName(), string(o.GetUID())}, " "))
			}
		}
	}
	slices.Sort(found)
	return found
}
