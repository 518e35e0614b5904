// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

// claimSince2026 is the beginning of a claim; its spec follows.
const claimSince2026 = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, " +
	"creationTimestamp: '2026-01-01T00:00:00Z'}, spec: "

func TestHealthOfEachKind(t *testing.T) {
	t.Parallel()
	const healthy, unhealthy = sdk.Healthy, sdk.Unhealthy
	for _, c := range []struct {
		name   string
		object string
		want   sdk.HealthStatus
		says   string
	}{
		{"config map", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", healthy, ""},
		{"secret", "{apiVersion: v1, kind: Secret, metadata: {name: a}}", healthy, ""},
		{"object that is being deleted",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}",
			unhealthy, "is Terminating since 2026-01-01T00:00:00Z"},
		{"object that a finalizer holds", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: " +
			"[example.com/a, b], deletionTimestamp: '2026-01-01T00:00:00Z'}}", unhealthy,
			"is Terminating, held by the finalizer example.com/a, b since 2026-01-01T00:00:00Z"},
		{"job that is suspended", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {suspend: true}}",
			healthy, "is suspended (spec.suspend)"},
		{"claim of a class", claimSince2026 + "{storageClassName: fast}, status: {phase: Pending}}", unhealthy,
			"is pending since 2026-01-01T00:00:00Z: waits for a volume of the storage class fast"},
		{"claim without a class", claimSince2026 + "{storageClassName: ''}, status: {phase: Pending}}", unhealthy,
			"is pending since 2026-01-01T00:00:00Z: waits for a volume without a storage class that fits"},
		{"claim of a volume", claimSince2026 + "{volumeName: v}, status: {phase: Pending}}", unhealthy,
			"is pending since 2026-01-01T00:00:00Z: waits for the volume v"},
		{"object with a condition", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, status: " +
			"{conditions: [{type: Ready, status: 'False', reason: Flat, message: no air, lastTransitionTime: " +
			"'2026-01-01T00:00:00Z'}]}}", unhealthy, "Ready is false since 2026-01-01T00:00:00Z: Flat: no air"},
		{
			"deployment", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, generation: 2}
spec: {replicas: 2}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2,
  conditions: [{type: Available, status: "True"},
    {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}`,
			healthy, "",
		},
		{
			"deployment with one replica that is not ready", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, generation: 2}
spec: {replicas: 2}
status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1}`,
			unhealthy, "1/2",
		},
		{
			"deployment past its progress deadline", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, generation: 1}
spec: {replicas: 1}
status: {observedGeneration: 1, conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded}]}`,
			unhealthy, "deadline",
		},
		{"deployment that no controller has seen",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 3}, spec: {replicas: 1}, " +
				"status: {observedGeneration: 2}}", unhealthy, "generation"},
		{
			"stateful set", `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a, generation: 1}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentReplicas: 1, updatedReplicas: 1,
  currentRevision: a, updateRevision: a}`,
			healthy, "",
		},
		{"stateful set without pods",
			"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a, generation: 1}, spec: {replicas: 1}, " +
				"status: {observedGeneration: 1}}", unhealthy, "0/1"},
		{
			"daemon set", `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: a, generation: 1}
status: {observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1,
  numberAvailable: 1, numberReady: 1}`,
			healthy, "",
		},
		{"replica set that waits",
			"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {replicas: 1}, status: {replicas: " +
				"1, fullyLabeledReplicas: 1}}", unhealthy, "0/1"},
		{
			"pod that runs", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}`,
			healthy, "",
		},
		{
			"pod that crashes", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status: {phase: Running, containerStatuses: [{name: web, 
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}}]}`,
			unhealthy, "container web: CrashLoopBackOff: back-off 10s",
		},
		{
			"pod that crashes with a last line", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status: {phase: Running, containerStatuses: [{name: web,
  lastState: {terminated: {exitCode: 3, reason: Error, message: "starting\nno such table: users\n"}},
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}}]}`,
			unhealthy, "container web: CrashLoopBackOff: last exit code 3: no such table: users",
		},
		{
			"pod that is out of memory", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status: {phase: Running, containerStatuses: [{name: web,
  lastState: {terminated: {exitCode: 137, reason: OOMKilled}},
  state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}}]}`,
			unhealthy, "container web: CrashLoopBackOff: last exit code 137 (OOMKilled)",
		},
		{
			"pod without its image", `
apiVersion: v1
kind: Pod
metadata: {name: a}
status: {phase: Pending, initContainerStatuses: [{name: init, state: {waiting: {reason: ImagePullBackOff}}}]}`,
			unhealthy, "container init: ImagePullBackOff",
		},
		{"pod that has finished", "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Succeeded}}",
			healthy, ""},
		{"pod that has failed", "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Failed, reason: " +
			"Evicted}}", unhealthy, "the pod has failed: Evicted"},
		{"service", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ClusterIP, clusterIP: " +
			"10.0.0.1}}", healthy, ""},
		{"load balancer without an address",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: LoadBalancer, clusterIP: " +
				"10.0.0.1}, status: {loadBalancer: {}}}", unhealthy, "no load balancer"},
		{"bound claim", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Bound}}",
			healthy, ""},
		{"claim that waits", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: " +
			"Pending}}", unhealthy, "names no storage class"},
		{"claim whose volume is lost",
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, status: {phase: Lost}}", unhealthy,
			"lost"},
		{"ingress", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, status: " +
			"{loadBalancer: {ingress: [{ip: 10.0.0.1}]}}}", healthy, ""},
		{"ingress to a missing Service", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, " +
			"status: {loadBalancer: {ingress: [{ip: 10.0.0.1, ports: [{port: 80, protocol: TCP, error: " +
			"pipedeck.dev/BackendNotFound}]}]}}}", unhealthy, "error of port 80: pipedeck.dev/BackendNotFound"},
		{"route to a missing Service", "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: " +
			"{name: a}, status: {parents: [{parentRef: {name: edge}, conditions: [{type: ResolvedRefs, status: " +
			"'False', reason: BackendNotFound, message: no b}]}]}}", unhealthy, "BackendNotFound: no b"},
		{"ingress without a controller",
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, status: {loadBalancer: {}}}",
			unhealthy, "no ingress controller"},
		{"job that is done", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {succeeded: 1, " +
			"conditions: [{type: Complete, status: 'True'}]}}", healthy, ""},
		{"job that has failed", "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, status: {failed: 1, " +
			"conditions: [{type: Failed, status: 'True'}]}}", unhealthy, "Failed"},
		{"cron job", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}}", healthy, ""},
		{"autoscaler", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, status: " +
			"{conditions: [{type: ScalingActive, status: 'True'}]}}", healthy, ""},
		{
			"autoscaler without metrics",
			"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, status: " +
				"{conditions: [{type: ScalingActive, status: 'False', reason: FailedGetResourceMetric, message: " +
				"no metrics}]}}",
			unhealthy, "ScalingActive is false: FailedGetResourceMetric: no metrics",
		},
		{
			"autoscaler of the first version",
			"{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, annotations: " +
				`{autoscaling.alpha.kubernetes.io/conditions: '[{"type": "AbleToScale", "status": "False", "reason": ` +
				`"FailedGetScale", "message": "no such target"}]'}}, status: {}}`,
			unhealthy, "AbleToScale is false: FailedGetScale: no such target",
		},
		{"disruption budget", "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, status: " +
			"{currentHealthy: 2, desiredHealthy: 2}}", healthy, ""},
		{"disruption budget that is short of pods",
			"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, status: {currentHealthy: 1, " +
				"desiredHealthy: 2}}", unhealthy, "1 of 2 needed pods are healthy"},
		{"established definition",
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, status: " +
				"{conditions: [{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]}}", healthy,
			""},
		{"custom object without a status", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}}", healthy,
			""},
		{"custom object that is ready",
			"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, status: {conditions: [{type: Ready, " +
				"status: 'True'}]}}", healthy, ""},
		{"custom object that is not ready",
			"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, status: {conditions: [{type: Ready, " +
				"status: 'False', reason: Waiting}]}}", unhealthy, "Ready is false: Waiting"},
		{"custom object that is degraded",
			"{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, status: {conditions: [{type: Ready, " +
				"status: 'True'}, {type: Degraded, status: 'True', message: one of three}]}}", unhealthy,
			"Degraded is true: one of three"},
		{"long message", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, status: {conditions: " +
			"[{type: Ready, status: 'False', message: " + strings.Repeat("x", 2*maxDescription) + "}]}}", unhealthy,
			"xxx…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			health, says := healthOf(parse(t, c.object), "")
			require.Equal(t, c.want, health, says)
			require.Contains(t, says, c.says)
			require.LessOrEqual(t, len(says), maxDescription+len("…"))
			require.Equal(t, c.says == "", says == "", says)
		})
	}
}

func TestTheNewestWarningSaysWhyAnObjectWaits(t *testing.T) {
	t.Parallel()
	event := func(at string) *unstructured.Unstructured { return parse(t, "{kind: Event, "+at+"}") }
	ascending := []*unstructured.Unstructured{
		event("type: Normal, eventTime: null"),
		event("type: Normal, firstTimestamp: '2026-01-01T00:00:03Z'"),
		event("type: Normal, firstTimestamp: '2026-01-01T00:00:01Z', lastTimestamp: '2026-01-01T00:00:04Z'"),
		event("type: Warning, eventTime: '2026-01-01T00:00:01.000000Z'"),
		event("type: Warning, eventTime: '2026-01-01T00:00:00Z', series: {lastObservedTime: '2026-01-01T00:00:02Z'}"),
	}
	for i, later := range ascending[1:] {
		require.Greater(t, rank(later), rank(ascending[i]))
	}
	health, says := healthOf(parse(t, claimSince2026+"{}, status: {phase: Pending}}"), "Failed: no disk")
	require.Equal(t, sdk.Unhealthy, health)
	require.Equal(t, "is pending since 2026-01-01T00:00:00Z: Failed: no disk", says)
	balancer := "{apiVersion: v1, kind: Service, metadata: {name: a, creationTimestamp: '2026-01-01T00:00:00Z'}, " +
		"spec: {type: LoadBalancer}}"
	_, says = healthOf(parse(t, balancer), "SyncLoadBalancerFailed: no quota")
	require.Equal(t, "no load balancer has given it an address since it was created at 2026-01-01T00:00:00Z: "+
		"SyncLoadBalancerFailed: no quota", says)
}

// Each document of testdata/health begins with what it is, what is said of it, and words of the reason:
// "# a route that no one takes: UNHEALTHY: NotAllowed".
func TestAHookCountsForNoHealthAndSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a, annotations: {helm.sh/hook: pre-upgrade}}, " +
			"status: {conditions: [{type: Failed, status: 'True'}]}}": "helm.sh/hook: pre-upgrade; it has failed",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a, annotations: {argocd.argoproj.io/hook: PreSync}}, " +
			"status: {conditions: [{type: Complete, status: 'True'}]}}": "argocd.argoproj.io/hook: PreSync; it has " +
			"succeeded",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {helm.sh/hook: test}}, " +
			"status: {phase: Running}}": "helm.sh/hook: test; it runs",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: a, annotations: {helm.sh/hook: pre-upgrade}}, " +
			"spec: {suspend: true}}": "helm.sh/hook: pre-upgrade; it is suspended (spec.suspend) and does not run",
	} {
		health, says := healthOf(parse(t, object), "")
		require.Equal(t, sdk.Healthy, health, object)
		require.Equal(t, want, says)
		require.Equal(t, strings.Split(want, ";")[0], metadataOf(parse(t, object))["Hook"])
	}
	health, _ := healthOf(parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 1, "+
		"annotations: {helm.sh/hook: pre-upgrade}}, spec: {replicas: 1}}"), "")
	require.Equal(t, sdk.Unhealthy, health, "a hook that has no end is judged as all objects")
}

func TestHealthOfObjectsFromFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/health/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, document := range strings.Split(string(data), "---\n") {
			heading, _, _ := strings.Cut(document, "\n")
			name, wanted, found := strings.Cut(strings.TrimPrefix(heading, "# "), ": ")
			require.True(t, found, heading)
			verdict, says, _ := strings.Cut(wanted, ": ")
			health, description := healthOf(parse(t, document), "")
			require.Equal(t, verdict, health.String(), "%s: %s", name, description)
			require.Contains(t, description, says, name)
			require.Equal(t, says == "", description == "", "%s: %s", name, description)
		}
	}
}
