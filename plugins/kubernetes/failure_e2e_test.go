// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestARolloutThatCannotSucceedFailsSoonAndSaysWhy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ image, annotations, settings, want string }{
		"an image that cannot be pulled": {image: "registry.invalid/x:1",
			want: "registry.invalid/x:1 cannot be pulled"},
		"an image name that is none": {image: "'UPPER:CASE:x'", want: "is not a valid image name"},
		"a crash loop": {image: "app:v1", annotations: "pipedeck.dev/simulate: crash-loop",
			want: "keeps crashing: 2 restarts, last exit code 1"},
		"a pod that no node takes": {image: "app:v1",
			annotations: "pipedeck.dev/simulate: unschedulable", settings: "rolloutTimeout: 8s",
			want: "cannot be scheduled"},
		"a pod that never becomes ready": {image: "app:v1", annotations: "pipedeck.dev/simulate: never-ready",
			settings: "rolloutTimeout: 2s", want: "not ready within 2s"},
		"a progress deadline that is set to pass": {image: "app:v1", annotations: "pipedeck.dev/simulate: never-ready",
			settings: "rolloutTimeout: 30s", want: "Progress deadline exceeded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			if tt.settings != "" {
				a.settings = "autoCreateNamespace: true, failureGrace: 300ms, " + tt.settings
			}
			text := deploymentYAML("web", tt.image, 1, tt.annotations)
			if tt.want == "Progress deadline exceeded" {
				text += "  progressDeadlineSeconds: 1\n  minReadySeconds: 0\n"
			}
			start := time.Now()
			log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"web.yaml": text}}, nil)
			require.Contains(t, log, tt.want)
			t.Logf("failed after %s\n%s", time.Since(start), log)
		})
	}
}

func TestAGoodVersionReplacesABrokenOne(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	broken := &commit{Hash: "aaaaaaa1", Files: map[string]string{"web.yaml": deploymentYAML("web",
		"registry.invalid/x:1", 2, "")}}
	good := &commit{Hash: "aaaaaaa2", Files: map[string]string{"web.yaml": deploymentYAML("web", "app:v2", 2, "")}}
	a.fails("K8S_SYNC", "", broken, nil)
	log := a.succeeds("K8S_SYNC", "", good, nil)
	require.Contains(t, log, "2 of 2 ready")
}

func TestAMistakeInAManifestIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string
	}{
		"an unknown field": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replica: 2\n" +
				"  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n" +
				"    spec: {containers: [{name: main, image: x}]}\n",
			[]string{"bad.yaml:5", "spec.replica: no such field in apps/v1 Deployment\nnext step: did you mean " +
				"replicas?"},
		},
		"a wrong type": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: 1\n",
			[]string{"bad.yaml:5", "data.a: expected a string, got 1\nnext step: put the value in quotes"},
		},
		"a missing field": {
			"apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {a: b}\n",
			[]string{"bad.yaml:4", "spec.ports: Required value"},
		},
		"an unknown kind": {
			"apiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: x}\n",
			[]string{"bad.yaml:2", "no matches for kind Nothing in example.com/v1",
				"next step: install its CustomResourceDefinition"},
		},
		"a kind of another version": {
			"apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: x}\n",
			[]string{"bad.yaml:1", "no matches for kind Ingress in extensions/v1beta1",
				"next step: write apiVersion: networking.k8s.io/v1"},
		},
		"several unknown kinds, which are not applied side by side": {
			"apiVersion: apps/v1\nkind: Deploymentt\nmetadata: {name: x}\n---\n" +
				"apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: y}\n---\n" +
				"apiVersion: batch/v1\nkind: Jobs\nmetadata: {name: z}\n",
			[]string{"bad.yaml:2: Deploymentt ", "x: no matches for kind Deploymentt in apps/v1",
				"bad.yaml:5: Deployment ", "y: no matches for kind Deployment in apps/v1beta1",
				"next step: write apiVersion: apps/v1", "bad.yaml:10: Jobs ",
				"z: no matches for kind Jobs in batch/v1"},
		},
		"a kind in another case": {
			"apiVersion: apps/v1\nkind: Statefulset\nmetadata: {name: x}\n",
			[]string{"bad.yaml:2", "did you mean the kind StatefulSet?"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"bad.yaml": tt.text}},
				nil)
			for _, want := range tt.want {
				require.Contains(t, log, want)
			}
			t.Log(log)
		})
	}
}

func TestAMissingNamespaceIsNamed(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = "autoCreateNamespace: false"
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("c")}}, nil)
	require.Contains(t, log, "autoCreateNamespace")
}

func TestACancelEndsTheWaitAtOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan model.StageStatus, 1)
	go func() {
		status, _ := a.runIn(ctx, "K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{
			"web.yaml": deploymentYAML("web", "app:v1", 1, "pipedeck.dev/simulate: never-ready")}}, nil)
		ended <- status
	}()
	require.Eventually(t, func() bool { return strings.Contains(a.h.Piped.Log("stage-1"), "0 of 1 ready") },
		time.Minute, 10*time.Millisecond)
	cancel()
	select {
	case status := <-ended:
		require.Equal(t, model.StageStatus_STAGE_CANCELLED, status)
	case <-time.After(time.Minute):
		t.Fatal("the stage went on after it was cancelled")
	}
}

func TestAStageWaitsForAKubeconfigThatIsWrittenLater(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "later", "kubeconfig")
	a := newAppAt(t, path)
	ended := make(chan model.StageStatus, 1)
	go func() {
		status, _ := a.run("K8S_SYNC", "", &commit{Hash: "aaaaaaa1",
			Files: map[string]string{"c.yaml": configMap("c")}}, nil)
		ended <- status
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(a.h.Piped.Log("stage-1"),
			"waiting for the Kubernetes API")
	}, time.Minute, 10*time.Millisecond)
	data, err := os.ReadFile(os.Getenv(kubeconfigEnv))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o600))
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
	a.get(configMaps, "c")
}

func TestAStageEndsWithAReasonBeforeItsTimeout(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_SYNC, timeout: 6s}]}\n"
	log := a.fails("K8S_SYNC", "{}", &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"web.yaml": deploymentYAML("web", "app:v1", 1, "pipedeck.dev/simulate: unschedulable")}}, nil)
	require.Contains(t, log, "not ready within 5.4s (the stage's timeout: 6s); last state: 0 of 1 ready; pod web-")
	require.Contains(t, log, "cannot be scheduled: ")
}

func TestAJobThatFailsFailsTheStageWithItsLastWords(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"job.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {pipedeck.dev/simulate: crash-loop}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "app:v1"}]}
`}}, nil)
	require.Contains(t, log, "Job "+a.namespace+"/migrate: it failed: Job has reached the specified backoff "+
		"limit; pod migrate-")
	require.Contains(t, log, "last exit code 1: simulated: exit code 1")
	require.NotContains(t, log, "its last output: This pod is simulated")
}

func TestPodsThatTheAPIRefusesAreReportedWithItsWords(t *testing.T) {
	t.Parallel()
	const restricted = "violates PodSecurity \"restricted:latest\""
	tests := map[string]struct{ manifest, want string }{
		"of a Deployment": {deploymentYAML("web", "app:v1", 1, ""),
			"Deployment %s/web: its pods are refused by the API: pods \"web-"},
		"of a StatefulSet": {`apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "app:v1"}]}
`, "its pods are not made: Create Pod web-0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			a.settings = "failureGrace: 300ms, rolloutTimeout: 8s"
			a.makeNamespace()
			_, err := a.live().Dynamic.Resource(namespaces).Patch(t.Context(), a.namespace, types.MergePatchType,
				[]byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`),
				metav1.PatchOptions{})
			require.NoError(t, err)
			log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"web.yaml": tt.manifest}},
				nil)
			require.Contains(t, log, strings.ReplaceAll(tt.want, "%s", a.namespace))
			require.Contains(t, log, restricted)
		})
	}
}
