// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package livestate

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// unwell are objects that have no way to be healthy here, and what is said of each of them; T is a time.
var unwell = map[string]struct{ object, says string }{
	"PersistentVolumeClaim": {`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: nowhere, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`, `is pending since T: ProvisioningFailed: .*nowhere.*`},
	"Ingress": {`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec: {defaultBackend: {service: {name: front, port: {number: 80}}}}
`, "no ingress controller has given it an address since it was created at T"},
	"HorizontalPodAutoscaler": {`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: front}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: nowhere}, maxReplicas: 2}
`, "AbleToScale is false since T: FailedGetScale: .*"},
	"PodDisruptionBudget": {`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: front}
spec: {minAvailable: 1, selector: {matchLabels: {app: big}}}
`, "0 of 1 needed pods are healthy since T"},
	"Deployment": {`
apiVersion: apps/v1
kind: Deployment
metadata: {name: big}
spec:
  selector: {matchLabels: {app: big}}
  template:
    metadata: {labels: {app: big}}
    spec: {containers: [{name: main, image: "app:v1"}], nodeSelector: {disk: none}}
`, ".* since T"},
	"Pod": {"", "cannot be scheduled since T: Unschedulable: .*"},
	"ReplicationController": {`
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  selector: {app: old}
  template:
    metadata: {labels: {app: old}}
    spec: {containers: [{name: main, image: "app:v1"}], nodeSelector: {disk: none}}
`, "0 of 2 pods are ready"},
	"ConfigMap": {`
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
`, "is Terminating, held by the finalizer example.com/hold since T"},
}

func TestEachKindSaysWhyAndSinceWhenItIsNotHealthy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := map[string]string{}
	for kind, one := range unwell {
		if one.object != "" {
			files[kind+".yaml"] = one.object
		}
	}
	to := Destination{Target: w.local, Source: w.source(files)}
	w.apply(to)
	held := w.client.Dynamic.Resource(configMaps).Namespace(w.namespace)
	require.NoError(t, held.Delete(t.Context(), "held", metav1.DeleteOptions{}))
	t.Cleanup(func() {
		_, err := held.Patch(context.Background(), "held", types.MergePatchType,
			[]byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	})
	const moment = `20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`
	w.becomes("each kind has said why", func(s *sdk.Livestate) bool {
		missing := maps.Clone(unwell)
		for _, r := range s.Resources {
			want := "^" + strings.Replace(unwell[r.Type].says, "since T", "since "+moment, 1) + "$"
			want = strings.Replace(want, "created at T", "created at "+moment, 1)
			if regexp.MustCompile(want).MatchString(r.HealthDescription) &&
				r.Health == sdk.Unhealthy {
				delete(missing, r.Type)
			}
		}
		t.Logf("not yet: %v", slices.Sorted(maps.Keys(missing)))
		if len(missing) > 0 {
			for _, r := range s.Resources {
				t.Logf("%s: %s %s", r.Type, r.Health, r.HealthDescription)
			}
		}
		return len(missing) == 0
	}, to)
}

const jobs3 = `
apiVersion: batch/v1
kind: Job
metadata: {name: waits}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "app:v1"}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: gone}
spec:
  ttlSecondsAfterFinished: 7
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "app:v1"}]}}
`

func TestJobsThatWaitAndJobsThatAreGoneAreHealthy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := Destination{Target: w.local, Source: w.source(map[string]string{"jobs.yaml": jobs3})}
	w.apply(to)
	background := metav1.DeletePropagationBackground
	require.NoError(t, w.client.Dynamic.Resource(jobs).Namespace(w.namespace).Delete(t.Context(), "gone",
		metav1.DeleteOptions{PropagationPolicy: &background}), "as its time to live does")
	w.becomes("both are healthy", func(s *sdk.Livestate) bool {
		says := map[string]string{}
		for _, r := range s.Resources {
			if r.Health == sdk.Healthy {
				says[r.Name] = r.HealthDescription
			}
		}
		return s.Sync.Status == sdk.Synced && maps.Equal(says, map[string]string{
			"waits": "is suspended (spec.suspend)",
			"gone":  "has ended, and was removed 7 s later (ttlSecondsAfterFinished)",
		})
	}, to)
}
