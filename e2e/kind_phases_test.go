// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// kindMigration is a Job that runs kindProgram before a rollout.
const kindMigration = `apiVersion: batch/v1
kind: Job
metadata:
  name: NAME
  annotations: {ANNOTATIONS}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: pipedeck.dev/program:v1
          args: [NAME]
          env: [{name: BROKEN, value: ""}]
`

// phasesStory deploys a store, which takes seconds to get ready, and the orders, which need it; two migrations come
// before. The times that Kubernetes itself has noted say what came after what.
func phasesStory() kindStory {
	migration := func(name, annotations string) string {
		return strings.NewReplacer("NAME", name, "ANNOTATIONS", annotations).Replace(kindMigration)
	}
	store := strings.NewReplacer("NAME", "store", "periodSeconds: 1", "periodSeconds: 1, initialDelaySeconds: 2")
	files := kindApplication("orders", "")
	maps.Copy(files, map[string]string{
		"orders/backup.yaml": migration("backup",
			`helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "-1"`),
		"orders/migrate.yaml": migration("migrate", "argocd.argoproj.io/hook: PreSync"),
		"orders/store.yaml":   store.Replace(kindDeployment),
		"orders/deployment.yaml": strings.Replace(strings.ReplaceAll(kindDeployment, "NAME", "orders"),
			"name: orders\n", "name: orders\n  annotations: {pipecd.dev/order: \"1\"}\n", 1),
	})
	return kindStory{files, func(c *tenant) {
		versioned := []string{"orders/store.yaml", "orders/deployment.yaml"}
		c.await("version one is deployed", deployed("orders", "SUCCESS"))
		url := c.open("orders")
		first := c.requirePhases("v1")
		commit := c.change("Version two", func(dir string) {
			for _, file := range versioned {
				replaceIn(c.t, filepath.Join(dir, file), "value: v1", "value: v2")
			}
		})
		c.await("version two is deployed", deployed("orders", "SUCCESS", "commit", commit))
		require.NotEqual(c.t, first, c.requirePhases("v2"), "the migration runs in each deployment")

		sets, pods := c.uids(kindReplicaSets), c.uids(kindPods)
		require.Len(c.t, sets, 4, "two versions of each")
		broken := c.change("Break the migration", func(dir string) {
			replaceIn(c.t, filepath.Join(dir, "orders/migrate.yaml"), `value: ""`, `value: "true"`)
			for _, file := range versioned {
				replaceIn(c.t, filepath.Join(dir, file), "value: v2", "value: v3")
			}
		})
		failed := c.await("the migration fails the deployment", deployed("orders", "FAILURE", "commit", broken))
		c.await("its last words are in the log", saysOf(failed, "migrate: it failed"))
		c.await("they are those of the program", saysOf(failed, "relation orders does not exist"))
		require.Equal(c.t, sets, c.uids(kindReplicaSets), "no new pod was ever made")
		require.Equal(c.t, pods, c.uids(kindPods), "the old pods run on")
		require.Equal(c.t, map[string]int{"v2": 20}, versions(url, 20))
	}}
}

// requirePhases demands of a version that the backup ended before the migration, that before the store's pods, and
// these were ready before the orders' pods. It returns the UID of the migration.
func (c *tenant) requirePhases(version string) types.UID {
	c.t.Helper()
	backup, migration := c.job("backup"), c.job("migrate")
	for _, job := range []batchv1.Job{backup, migration} {
		require.EqualValues(c.t, 1, job.Status.Succeeded, job.Name)
	}
	store, orders := c.replicaSet("store", version), c.replicaSet("orders", version)
	c.requireOrder("the backup ends", *backup.Status.CompletionTime, "the migration begins",
		migration.CreationTimestamp)
	c.requireOrder("the migration ends", *migration.Status.CompletionTime, "the store is made",
		store.CreationTimestamp)
	for _, pod := range listed[corev1.Pod](c, kindPods, "store") {
		for _, condition := range pod.Status.Conditions {
			if metav1.IsControlledBy(&pod, &store) && condition.Type == corev1.PodReady {
				require.Equal(c.t, corev1.ConditionTrue, condition.Status)
				c.requireOrder("the store is ready", condition.LastTransitionTime, "the orders are made",
					orders.CreationTimestamp)
			}
		}
	}
	return migration.UID
}

func (c *tenant) requireOrder(one string, before metav1.Time, other string, after metav1.Time) {
	c.t.Helper()
	require.False(c.t, after.Before(&before), "%s at %s, %s at %s", one, before, other, after)
}

// replicaSet is that of a version.
func (c *tenant) replicaSet(app, version string) (found appsv1.ReplicaSet) {
	c.t.Helper()
	for _, set := range listed[appsv1.ReplicaSet](c, kindReplicaSets, app) {
		if set.Spec.Template.Spec.Containers[0].Env[0].Value == version {
			require.Empty(c.t, found.Name, "one for each version")
			found = set
		}
	}
	require.NotEmpty(c.t, found.Name, "%s of %s", version, app)
	return found
}

func (c *tenant) job(name string) (job batchv1.Job) {
	c.t.Helper()
	object := c.object(kindJobs, name)
	require.NotNil(c.t, object, name)
	require.NoError(c.t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &job))
	return job
}

// uids are those of the objects of the store and the orders.
func (c *tenant) uids(resource schema.GroupVersionResource) (all []types.UID) {
	c.t.Helper()
	for _, app := range []string{"orders", "store"} {
		for _, o := range listed[metav1.PartialObjectMetadata](c, resource, app) {
			if o.DeletionTimestamp == nil {
				all = append(all, o.UID)
			}
		}
	}
	slices.Sort(all)
	return all
}
