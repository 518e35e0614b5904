// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

// hookPod is a pod that is a hook, with the YAML of its status.
func hookPod(t *testing.T, status string) *unstructured.Unstructured {
	return object(t, `
apiVersion: v1
kind: Pod
metadata: {name: check, namespace: prod, uid: check}
spec: {restartPolicy: Never, containers: [{name: main, image: "app:v1"}]}
status: {`+status+`}
`)
}

const (
	podRunning = `phase: Running, conditions: [{type: Ready, status: "True"}], ` +
		`containerStatuses: [{name: main, state: {running: {}}}]`
	podDone = `phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}], ` +
		`containerStatuses: [{name: main, state: {terminated: {exitCode: 0}}}]`
	podBroken = `phase: Failed, conditions: [{type: Ready, status: "False"}], ` +
		`containerStatuses: [{name: main, state: {terminated: {exitCode: 3}}}]`
)

// runPod waits for a hook that runs at first and then has another status.
func runPod(t *testing.T, c *fakeCluster, then string) (string, error) {
	t.Helper()
	log, live := &lines{}, hookPod(t, podRunning)
	c.resource("pods").set(live)
	ended := make(chan error, 1)
	go func() {
		hook := rollout.Workload{Live: live, Resource: c.resource("pods"), Hook: true}
		ended <- rollout.Wait(t.Context(), c, []rollout.Workload{hook}, options, log)
	}()
	synctest.Wait()
	require.Empty(t, ended, "a pod that is ready has not come to its end")
	c.resource("pods").set(hookPod(t, then))
	err := <-ended
	return log.String(), err
}

func TestAHookHasToEndAndItsOutputIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.printed = "one\ntwo\nlast without an end"
		log, err := runPod(t, c, podDone)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(log, "check | one\ncheck | two\ncheck | last without an end\n"), log)
		require.Equal(t, 3, strings.Count(log, " | "), log)
	})
}

func TestAHookThatFailsSaysWhatItPrintedLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.output = "no such table\n"
		_, err := runPod(t, c, podBroken)
		require.EqualError(t, err, "Pod prod/check: the pod ended with a failure; pod check: container main crashed, "+
			"last exit code 3; its last output: no such table")
	})
}

func TestTheReasonOfACrashHoldsTheLastLineWhole(t *testing.T) {
	t.Parallel()
	last := "FATAL: " + strings.Repeat("no such table, ", 60)
	for output, want := range map[string]string{
		"starting\n" + last: "last exit code 3: " + strings.TrimSpace(last) + "\nits last " +
			"output:\nstarting\n" + last,
		last:                      "last exit code 3; its last output: " + strings.TrimSpace(last),
		strings.Repeat("é", 2000): "last exit code 3; its last output: " + strings.Repeat("é", 512) + "…",
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newFakeCluster()
			c.output = output
			_, err := runPod(t, c, podBroken)
			require.EqualError(t, err, "Pod prod/check: the pod ended with a failure; pod check: container main "+
				"crashed, "+
				want)
		})
	}
}

func TestWhatTheClusterSaysOfASimulatedPodIsNotItsOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.output = "This pod is simulated: no container runs, so there are no logs.\n"
		_, err := runPod(t, c, podBroken)
		require.EqualError(t, err, "Pod prod/check: the pod ended with a failure; pod check: container main crashed, "+
			"last exit code 3")
	})
}

func TestTheOutputOfAHookIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster()
		c.printed = strings.Repeat("x", 10_000) + "\n" + strings.Repeat("line\n", 3000)
		log, err := runPod(t, c, podDone)
		require.NoError(t, err)
		require.Contains(t, log, strings.Repeat("x", 4096)+"…\n")
		require.Equal(t, 1, strings.Count(log, "check | more than 2000 lines; for the rest: kubectl -n prod logs "+
			"check -c main"))
		require.Less(t, strings.Count(log, "\n"), 2010)
	})
}

func TestWhatANextWaveWaitsFor(t *testing.T) {
	t.Parallel()
	waited := []string{
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a}}",
		"{apiVersion: x.io/v1, kind: Db, metadata: {name: a, generation: 2}, status: {observedGeneration: 1}}",
		"{apiVersion: x.io/v1, kind: Db, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'False'}]}}",
	}
	for _, text := range waited {
		require.True(t, rollout.HasHealth(object(t, text)), text)
	}
	for _, text := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, type: ClusterIP}}",
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Pending}}",
		"{apiVersion: x.io/v1, kind: Db, metadata: {name: a}, status: {conditions: [{type: Ready, status: 'True'}]}}",
	} {
		require.False(t, rollout.HasHealth(object(t, text)), text)
	}
}
