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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	data, err := o.MarshalJSON() // numbers become int64, as they come from the API
	require.NoError(t, err)
	require.NoError(t, o.UnmarshalJSON(data))
	return o
}

// deploymentAt is a Deployment of 3 with so many pods updated and ready.
func deploymentAt(t *testing.T, generation, observed, updated, ready int) *unstructured.Unstructured {
	t.Helper()
	return object(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: prod
  uid: web
  generation: %d
  annotations: {deployment.kubernetes.io/revision: "2"}
spec:
  replicas: 3
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: web}}
status:
  observedGeneration: %d
  replicas: 3
  updatedReplicas: %d
  readyReplicas: %d
  availableReplicas: %d
  conditions:
    - {type: Progressing, status: "True", reason: NewReplicaSetAvailable}
    - {type: Available, status: "True"}
`, generation, observed, updated, ready, ready))
}

// replicaSet is one of the Deployment's, of a revision.
func replicaSet(t *testing.T, revision int) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-%[1]d
  uid: rs%[1]d
  labels: {pod-template-hash: h%[1]d}
  annotations: {deployment.kubernetes.io/revision: "%[1]d"}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: web, controller: true}]
`, revision))
}

// pod is one of a ReplicaSet's; state is the YAML of its container's status.
func pod(t *testing.T, revision int, state string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: web-%[1]d-x, namespace: prod, uid: pod%[1]d, labels: {pod-template-hash: h%[1]d}}
spec: {restartPolicy: Always}
status: {containerStatuses: [{name: main, image: "app:v2", %[2]s}]}
`, revision, state))
}

const (
	pulling = `state: {waiting: {reason: ErrImagePull, message: not found}}`
	backOff = `state: {waiting: {reason: ImagePullBackOff, message: Back-off}}`
	crashed = `restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, ` +
		`lastState: {terminated: {exitCode: 137, reason: OOMKilled}}`
	crashed1 = `restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}, ` +
		`lastState: {terminated: {exitCode: 2, reason: Error}}`
	running = `restartCount: 3, ready: true, state: {running: {}}`
)

var options = rollout.Options{Timeout: time.Minute, Grace: 10 * time.Second}

type result struct {
	err  error
	took time.Duration
}

// wait waits for the Deployment in the background.
func wait(ctx context.Context, c *fakeCluster, live *unstructured.Unstructured, log *lines) <-chan result {
	ended := make(chan result, 1)
	start := time.Now()
	go func() {
		err := rollout.Wait(ctx, c, []rollout.Workload{{Live: live, Resource: c.resource("deployments")}}, options, log)
		ended <- result{err, time.Since(start)}
	}()
	return ended
}

// scene is a cluster with a Deployment that has just been changed.
func scene(t *testing.T, pods ...*unstructured.Unstructured) (*fakeCluster, *unstructured.Unstructured) {
	t.Helper()
	c := newFakeCluster()
	live := deploymentAt(t, 2, 2, 1, 2)
	c.resource("deployments").set(live)
	c.resource("replicasets").set(replicaSet(t, 1))
	c.resource("replicasets").set(replicaSet(t, 2))
	for _, p := range pods {
		c.resource("pods").set(p)
	}
	return c, live
}

func TestAWorkloadThatIsReadyIsNotWatched(t *testing.T) {
	t.Parallel()
	c, log := newFakeCluster(), &lines{}
	r := <-wait(t.Context(), c, deploymentAt(t, 2, 2, 3, 3), log)
	require.NoError(t, r.err)
	require.Equal(t, "Deployment web: 3 of 3 ready\n", log.String())
	require.Zero(t, c.resource("deployments").watched())
}

func TestProgressIsLoggedUntilAllIsReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		log := &lines{}
		ended := wait(t.Context(), c, deploymentAt(t, 2, 1, 3, 3), log) // the controller has not seen it yet
		for _, next := range []*unstructured.Unstructured{live, deploymentAt(t, 2, 2, 3, 1),
			deploymentAt(t, 2, 2, 3, 1), deploymentAt(t, 2, 2, 3, 3)} {
			synctest.Wait()
			c.resource("deployments").set(next)
			pass(time.Second)
		}
		require.NoError(t, (<-ended).err)
		require.Equal(t, "Deployment web: 1 of 3 updated, 2 ready, 2 old\n"+
			"Deployment web: 1 of 3 ready\nDeployment web: 3 of 3 ready\n", log.String())
	})
}

func TestAWatchThatBreaksIsStartedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		ended := wait(t.Context(), c, live, &lines{})
		for range 3 {
			synctest.Wait()
			c.resource("deployments").breakWatches()
			pass(time.Second)
		}
		synctest.Wait()
		c.resource("deployments").set(deploymentAt(t, 2, 2, 3, 3))
		require.NoError(t, (<-ended).err)
		require.Equal(t, 4, c.resource("deployments").watched())
	})
}

func TestAProblemFailsTheRolloutAfterItsGracePeriod(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state string
		took  time.Duration
		want  string
	}{
		"image":         {pulling, 10 * time.Second, "the image app:v2 cannot be pulled (ErrImagePull): not found"},
		"invalid image": {`state: {waiting: {reason: InvalidImageName}}`, 0, `"app:v2" is not a valid image name`},
		"crash loop": {crashed, 10 * time.Second,
			"container main keeps crashing: 3 restarts, last exit code 137 (OOMKilled); its last output: panic: no"},
		"termination message": {`restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, ` +
			`lastState: {terminated: {exitCode: 2, message: "listening\npanic: no\n\ngoroutine 1\nmain.go:27"}}`,
			10 * time.Second, "3 restarts, last exit code 2: panic: no"},
		"configuration": {`state: {waiting: {reason: CreateContainerConfigError, message: 'configmap "x" not found'}}`,
			10 * time.Second, `configmap "x" not found`},
		"crashed once": {crashed1, time.Minute,
			"not ready within 1m0s (input.rolloutTimeout); last state: 1 of 3 updated, 2 ready, 2 old; pod " +
				"web-2-x: container main keeps crashing: 1 restart, last exit code 2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, live := scene(t, pod(t, 2, tt.state))
				c.output = "panic: no\n"
				r := <-wait(t.Context(), c, live, &lines{})
				var failed *rollout.FailedError
				require.ErrorAs(t, r.err, &failed)
				require.Equal(t, "prod", failed.Key.Namespace)
				require.ErrorContains(t, r.err, tt.want)
				require.LessOrEqual(t, strings.Count(r.err.Error(), "panic: no"), 1, "it is said once")
				require.Equal(t, tt.took, r.took)
			})
		})
	}
}

func TestAProblemThatChangesItsWordsKeepsItsAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, pulling))
		ended := wait(t.Context(), c, live, &lines{})
		pass(6 * time.Second)
		c.resource("pods").set(pod(t, 2, backOff))
		r := <-ended
		require.ErrorContains(t, r.err, "ImagePullBackOff")
		require.Equal(t, 10*time.Second, r.took)
	})
}

func TestTheLastOutputIsKeptWhenTheNodeHasForgottenTheContainer(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"unable to retrieve container logs for containerd://1234",
		`failed to try resolving symlinks in path "/var/log/pods/a/main/1.log": no such file or directory`,
	} {
		synctest.Test(t, func(t *testing.T) {
			c, live := scene(t, pod(t, 2, crashed1))
			c.output = "panic: no\n"
			ended := wait(t.Context(), c, live, &lines{})
			synctest.Wait()
			c.output = words
			c.resource("pods").set(pod(t, 2, crashed))
			require.ErrorContains(t, (<-ended).err, "its last output: panic: no")
		})
	}
}

func TestAProblemThatPassesDoesNotFailTheRollout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, crashed))
		ended := wait(t.Context(), c, live, &lines{})
		pass(6 * time.Second)
		c.resource("pods").set(pod(t, 2, running))
		pass(20 * time.Second)
		c.resource("deployments").set(deploymentAt(t, 2, 2, 3, 3))
		require.NoError(t, (<-ended).err)
	})
}

func TestPodsOfAnOldRevisionDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &lines{}
		c, live := scene(t, pod(t, 1, crashed))
		ended := wait(t.Context(), c, live, log)
		pass(30 * time.Second)
		c.resource("deployments").set(deploymentAt(t, 2, 2, 3, 3))
		require.NoError(t, (<-ended).err)
		require.NotContains(t, log.String(), "crashing")
	})
}

func TestADeadlineThatPassedFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		ended := wait(t.Context(), c, live, &lines{})
		synctest.Wait()
		late := deploymentAt(t, 2, 2, 1, 2)
		require.NoError(t, unstructured.SetNestedSlice(late.Object, []any{map[string]any{
			"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
			"message": "timed out progressing",
		}}, "status", "conditions"))
		c.resource("deployments").set(late)
		r := <-ended
		require.ErrorContains(t, r.err, "Deployment prod/web: Progress deadline exceeded: timed out progressing")
		require.Zero(t, r.took)
	})
}

func TestAWorkloadThatIsDeletedOrPausedEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		ended := wait(t.Context(), c, live, &lines{})
		synctest.Wait()
		c.resource("deployments").remove(live)
		require.ErrorContains(t, (<-ended).err, "was deleted while it was waited for")

		c, live = scene(t)
		require.NoError(t, unstructured.SetNestedField(live.Object, true, "spec", "paused"))
		log := &lines{}
		require.NoError(t, (<-wait(t.Context(), c, live, log)).err)
		require.Contains(t, log.String(), "is paused (spec.paused): not waited for")
		require.Contains(t, log.String(), "next step: remove spec.paused from Git, or run: kubectl rollout resume "+
			"deployment/web -n prod")
	})
}

func TestACancelEndsTheWaitWithItsCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, pulling))
		ctx, cancel := context.WithCancelCause(t.Context())
		log := &lines{}
		ended := wait(ctx, c, live, log)
		synctest.Wait()
		stopped := errors.New("a user cancelled")
		cancel(stopped)
		r := <-ended
		require.ErrorIs(t, r.err, stopped)
		require.Zero(t, r.took)
		require.Contains(t, log.String(), "Deployment web was not ready when the stage had to stop; last state: 1 "+
			"of 3 updated, 2 ready, 2 old; pod web-2-x: the image app:v2 cannot be pulled")
	})
}

func TestTheFirstFailureEndsTheWaitForAllTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, pulling))
		other := deploymentAt(t, 2, 2, 1, 2)
		other.SetName("other")
		other.SetUID(types.UID("other"))
		quiet := newFakeCluster()
		quiet.resource("deployments").set(other)
		err := rollout.Wait(t.Context(), c, []rollout.Workload{
			{Live: live, Resource: c.resource("deployments")}, {Live: other, Resource: quiet.resource("deployments")},
			{Live: object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")},
		}, options, &lines{})
		require.ErrorContains(t, err, "Deployment prod/web: pod web-2-x")
		require.NotContains(t, err.Error(), "other")
	})
}

// job is a Job with the YAML of its status.
func job(t *testing.T, spec, status string) *unstructured.Unstructured {
	return object(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: prod, uid: migrate, generation: 1}
spec: {selector: {matchLabels: {job: migrate}}, `+spec+`}
status: {startTime: "2026-01-01T00:00:00Z", `+status+`}
`)
}

// The status of Jobs that have ended.
const (
	complete = `succeeded: 1, conditions: [{type: Complete, status: "True"}]`
	failed   = `failed: 1, conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, ` +
		`message: Job has reached the specified backoff limit}]`
)

func TestAJobIsWaitedForUntilItHasEnded(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, c *fakeCluster, live *unstructured.Unstructured, log *lines) <-chan error {
		c.resource("jobs").set(live)
		ended := make(chan error, 1)
		go func() {
			ended <- rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live, Resource: c.resource("jobs")}},
				options, log)
		}()
		synctest.Wait()
		return ended
	}
	t.Run("it succeeds", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, log := newFakeCluster(), &lines{}
			ended := begin(t, c, job(t, "", "active: 1"), log)
			require.Empty(t, ended)
			c.resource("jobs").set(job(t, "", complete))
			require.NoError(t, <-ended)
			require.Equal(t, "Job migrate: 0 of 1 completed\nJob migrate: 1 of 1 completed\n", log.String())
		})
	})
	t.Run("it fails", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster()
			c.output = "no such table\n"
			ended := begin(t, c, job(t, "", "active: 1"), &lines{})
			// The Job is reported as failed before its pod is.
			p := object(t, `
apiVersion: v1
kind: Pod
metadata: {name: migrate-x, namespace: prod, uid: p,
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: migrate, uid: migrate, controller: true}]}
spec: {restartPolicy: Never}
status: {phase: Failed, containerStatuses: [{name: main, image: "app:v2",
  state: {terminated: {exitCode: 3, reason: Error}}}]}
`)
			c.resource("pods").keep(p)
			c.resource("jobs").set(job(t, "", failed))
			require.EqualError(t, <-ended, "Job prod/migrate: it failed: Job has reached the specified backoff "+
				"limit; pod migrate-x: container main crashed, last exit code 3; its last output: no such table")
		})
	})
	t.Run("it is gone when it has ended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, log := newFakeCluster(), &lines{}
			live := job(t, "ttlSecondsAfterFinished: 0", "active: 1")
			ended := begin(t, c, live, log)
			c.resource("jobs").remove(live)
			require.NoError(t, <-ended)
			require.Contains(t, log.String(), "is gone, as its ttlSecondsAfterFinished says")
		})
	})
	for name, status := range map[string]string{
		"it is suspended": `conditions: [{type: Suspended, status: "True"}]`,
		"it is suspended and no controller has seen it": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := &lines{}
				live := job(t, "suspend: true", status)
				unstructured.RemoveNestedField(live.Object, "status", "startTime") // as long as it never ran
				require.NoError(t, <-begin(t, newFakeCluster(), live, log))
				require.Equal(t, "Job migrate is suspended (spec.suspend): not waited for\n", log.String())
			})
		})
	}
	t.Run("it failed before it was suspended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			require.ErrorContains(t, <-begin(t, newFakeCluster(), job(t, "suspend: true", failed), &lines{}),
				"it failed")
		})
	})
}

func TestAReplicationControllerIsWaitedForUntilItsPodsAreReady(t *testing.T) {
	t.Parallel()
	controller := func(t *testing.T, ready int) *unstructured.Unstructured {
		return object(t, fmt.Sprintf(`
apiVersion: v1
kind: ReplicationController
metadata: {name: web, namespace: prod, uid: web, generation: 1}
spec: {replicas: 1, minReadySeconds: 1, selector: {app: web}}
status: {observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, readyReplicas: %[1]d, availableReplicas: %[1]d}
`, ready))
	}
	synctest.Test(t, func(t *testing.T) {
		c, log := newFakeCluster(), &lines{}
		live := controller(t, 0)
		c.resource("replicationcontrollers").set(live)
		ended := make(chan error, 1)
		go func() {
			ended <- rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live,
				Resource: c.resource("replicationcontrollers")}}, options, log)
		}()
		synctest.Wait()
		require.Empty(t, ended, log.String())
		c.resource("replicationcontrollers").set(controller(t, 1))
		require.NoError(t, <-ended)
		require.Contains(t, log.String(), "ReplicationController web: 0 of 1 ready\n"+
			"ReplicationController web: 1 of 1 ready\n")
	})
}
