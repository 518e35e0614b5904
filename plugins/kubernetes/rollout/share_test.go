// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

// statefulAt is a StatefulSet of 3 with an update strategy and so many pods updated and ready.
func statefulAt(t *testing.T, strategy string, observed, updated, ready int) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: prod, uid: db, generation: 2}
spec:
  replicas: 3
  minReadySeconds: 1
  updateStrategy: %s
  selector: {matchLabels: {app: db}}
status: {observedGeneration: %d, replicas: 3, updatedReplicas: %d, readyReplicas: %d, currentReplicas: 3,
  currentRevision: h1, updateRevision: h2}
`, strategy, observed, updated, ready))
}

// daemonAt is a DaemonSet on 3 nodes that is updated by hand.
func daemonAt(t *testing.T, updated, ready int) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: prod, uid: agent, generation: 2,
  annotations: {deprecated.daemonset.template.generation: "2"}}
spec: {updateStrategy: {type: OnDelete}, selector: {matchLabels: {app: agent}}}
status: {observedGeneration: 2, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: %d,
  numberReady: %d, numberAvailable: %[2]d}
`, updated, ready))
}

// ordinal is a pod of the StatefulSet.
func ordinal(t *testing.T, number int, revision, ready string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: db-%[1]d, namespace: prod, uid: db-%[1]d, labels: {controller-revision-hash: %s}}
spec: {restartPolicy: Always}
status: {conditions: [{type: Ready, status: "%s"}]}
`, number, revision, ready))
}

const (
	onDelete    = "{type: OnDelete}"
	partitioned = "{type: RollingUpdate, rollingUpdate: {partition: 2}}"
)

// waitFor waits for one workload in the background; its log is complete when it has ended.
func waitFor(t *testing.T, c *fakeCluster, resource string, live *unstructured.Unstructured) (<-chan error, *lines) {
	c.resource(resource).set(live)
	log, ended := &lines{}, make(chan error, 1)
	go func() {
		ended <- rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live, Resource: c.resource(resource)}}, options,
			log)
	}()
	synctest.Wait()
	return ended, log
}

func TestARolloutByHandEndsWhenItsControllerHasDoneItsPart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		ended, log := waitFor(t, c, "statefulsets", statefulAt(t, onDelete, 1, 0, 2))
		require.Empty(t, ended, "the controller has not seen it: %s", log)
		c.resource("statefulsets").set(statefulAt(t, onDelete, 2, 0, 2))
		require.NoError(t, <-ended)
		require.Contains(t, log.String(), "StatefulSet db: 3 of 3 pods keep the old version until someone deletes "+
			"them (updateStrategy: OnDelete)\n")
	})
	synctest.Test(t, func(t *testing.T) {
		ended, log := waitFor(t, newFakeCluster(), "daemonsets", daemonAt(t, 1, 3))
		require.NoError(t, <-ended)
		require.Contains(t, log.String(), "DaemonSet agent: 2 of 3 pods keep the old version until someone deletes "+
			"them (updateStrategy: OnDelete)\n")
	})
}

func TestARolloutByHandWaitsForThePodsThatAreNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.resource("pods").set(ordinal(t, 0, "h1", "False"))
		c.resource("pods").set(ordinal(t, 2, "h2", "False"))
		ended, log := waitFor(t, c, "statefulsets", statefulAt(t, onDelete, 2, 1, 1))
		require.Empty(t, ended, log)
		c.resource("pods").set(ordinal(t, 2, "h2", "True"))
		require.NoError(t, <-ended)
	})
	synctest.Test(t, func(t *testing.T) { // as in a first deployment
		ended, _ := waitFor(t, newFakeCluster(), "daemonsets", daemonAt(t, 3, 2))
		require.ErrorContains(t, <-ended, "last state: 2 of 3 ready")
	})
}

func TestAPartitionedRolloutWaitsForThePodsFromThePartitionOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.resource("pods").set(ordinal(t, 0, "h1", "False")) // the old version does not run
		ended, log := waitFor(t, c, "statefulsets", statefulAt(t, partitioned, 2, 0, 1))
		require.Empty(t, ended, log)
		c.resource("statefulsets").set(statefulAt(t, partitioned, 2, 1, 1))
		synctest.Wait()
		require.Empty(t, ended, log)
		c.resource("pods").set(ordinal(t, 2, "h2", "True"))
		require.NoError(t, <-ended)
		require.Contains(t, log.String(), "StatefulSet db: 1 of 3 updated, 1 ready, 2 old\n"+
			"StatefulSet db: 2 of 3 pods keep the old version until the partition is lowered "+
			"(rollingUpdate.partition: 2)\n")
	})
}

func TestABrokenPodOfTheOldVersionThatHoldsAStatefulSetUpIsNamed(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"OrderedReady": true, "Parallel": false} {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster()
			live := statefulAt(t, "{type: RollingUpdate}", 2, 0, 0)
			require.NoError(t, unstructured.SetNestedField(live.Object, name, "spec", "podManagementPolicy"))
			broken := pod(t, 0, pulling)
			broken.SetLabels(map[string]string{"controller-revision-hash": "h1"})
			c.resource("pods").set(broken)
			ended, log := waitFor(t, c, "statefulsets", live)
			err := <-ended
			says := "pod web-0-x of the old version holds the rollout up, because no pod is replaced before it is " +
				"ready (podManagementPolicy: OrderedReady): the image app:v2 cannot be pulled (ErrImagePull): not " +
				"found; to have it replaced: kubectl delete pod web-0-x -n prod"
			require.ErrorContains(t, err, "not ready within 1m0s")
			require.Equal(t, held, strings.Contains(err.Error(), says), err)
			require.Equal(t, held, strings.Contains(log.String(), "StatefulSet db: "+says), log)
		})
	}
}

func TestARollbackDeletesTheBrokenPodsOfTheFailedVersion(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const rolling = "{type: RollingUpdate}"
	below := "{type: RollingUpdate, rollingUpdate: {partition: 3}}"
	for name, want := range map[string]struct {
		revision, ready, created, strategy string
		deleted                            bool
	}{
		"not ready":                      {"h3", "False", "2026-01-01T00:00:00Z", rolling, true},
		"ready":                          {"h3", "True", "2026-01-01T00:00:00Z", rolling, false},
		"older than the deployment":      {"h3", "False", "2025-12-31T23:59:59Z", rolling, false},
		"of the version that comes":      {"h2", "False", "2026-01-01T00:00:00Z", rolling, false},
		"from a partition on":            {"h3", "False", "2026-01-01T00:00:00Z", partitioned, true},
		"of the version below it":        {"h1", "False", "2026-01-01T00:00:00Z", below, false},
		"of that version from it on":     {"h1", "False", "2026-01-01T00:00:00Z", partitioned, true},
		"updated by hand":                {"h3", "False", "2026-01-01T00:00:00Z", onDelete, true},
		"updated by hand, and ready":     {"h3", "True", "2026-01-01T00:00:00Z", onDelete, false},
		"updated by hand, to the oldest": {"h1", "False", "2026-01-01T00:00:00Z", onDelete, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, log := newFakeCluster(), &lines{}
			live := statefulAt(t, want.strategy, 2, 2, 2)
			p := ordinal(t, 2, want.revision, want.ready)
			require.NoError(t, unstructured.SetNestedField(p.Object, want.created, "metadata", "creationTimestamp"))
			c.resource("pods").set(p)
			c.resource("statefulsets").set(live)
			var deleted []string
			o := options
			o.Discard = &rollout.Discard{Since: begun}
			o.Discard.Delete = func(_ context.Context, p *unstructured.Unstructured) error {
				deleted = append(deleted, p.GetName())
				return nil
			}
			ended := make(chan error, 1)
			go func() {
				ended <- rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live,
					Resource: c.resource("statefulsets")}}, o, log)
			}()
			pass(time.Second)
			c.resource("pods").set(p) // late news of it
			<-ended
			if !want.deleted {
				require.Empty(t, deleted, name)
				return
			}
			require.Equal(t, []string{"db-2"}, deleted, name)
			why := "before it is ready"
			if want.strategy == onDelete {
				why = "(updateStrategy: OnDelete)"
			}
			require.Contains(t, log.String(), "StatefulSet db: pod db-2 of the failed version is deleted, because its "+
				"controller replaces no pod "+why+"\n")
		})
	}
}

// failedAt is pod 2 of the failed version.
func failedAt(t *testing.T, ready string) *unstructured.Unstructured {
	p := ordinal(t, 2, "h3", ready)
	require.NoError(t, unstructured.SetNestedField(p.Object, "2026-01-01T00:00:00Z", "metadata", "creationTimestamp"))
	return p
}

func TestARollbackDoesNotEndBeforeTheFailedVersionIsReplaced(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]string{"partition": partitioned, "by hand": onDelete} {
		for _, ready := range []string{"True", "False"} {
			synctest.Test(t, func(t *testing.T) {
				c, log, ended := newFakeCluster(), &lines{}, make(chan error, 1)
				numbers := map[string]int{"True": 3, "False": 2}
				live := statefulAt(t, strategy, 2, 2, numbers[ready])
				require.NoError(t, unstructured.SetNestedField(live.Object, "h2", "status", "currentRevision"))
				c.resource("statefulsets").set(live)
				for n := range 2 {
					c.resource("pods").set(ordinal(t, n, "h2", "True"))
				}
				c.resource("pods").set(failedAt(t, ready))
				o := options
				o.Discard = &rollout.Discard{Delete: func(context.Context, *unstructured.Unstructured) error {
					return errors.New("forbidden")
				}}
				go func() {
					ended <- rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live,
						Resource: c.resource("statefulsets")}}, o, log)
				}()
				err := <-ended
				if ready == "True" && strategy == onDelete {
					require.NoError(t, err)
					require.Contains(t, log.String(), "StatefulSet db: 1 of 3 pods keep the failed version until "+
						"someone deletes them (updateStrategy: OnDelete)\nnext step: kubectl delete pod db-2 -n prod\n")
					return
				}
				require.ErrorContains(t, err, "not ready within 1m0s", name+" "+ready)
			})
		}
	}
}

func TestABrokenPodOfTheFailedVersionIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	for strategy, why := range map[string]string{
		partitioned: "no pod is replaced before it is ready (podManagementPolicy: OrderedReady)",
		onDelete:    "its controller replaces no pod (updateStrategy: OnDelete)",
	} {
		synctest.Test(t, func(t *testing.T) {
			c, log := newFakeCluster(), &lines{}
			live := statefulAt(t, strategy, 2, 2, 2)
			c.resource("statefulsets").set(live)
			broken := pod(t, 0, pulling)
			broken.SetName("db-2")
			broken.SetLabels(map[string]string{"controller-revision-hash": "h3"})
			c.resource("pods").set(broken)
			o := options
			o.Discard = &rollout.Discard{Delete: func(context.Context, *unstructured.Unstructured) error {
				return errors.New("forbidden")
			}}
			err := rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live,
				Resource: c.resource("statefulsets")}}, o, log)
			require.ErrorContains(t, err, "pod db-2 of the failed version holds the rollout up, because "+why)
		})
	}
}
