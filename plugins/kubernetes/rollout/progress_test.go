// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

func TestProgressIsLoggedOnceASecondAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		log := &lines{}
		ended := wait(t.Context(), c, live, log)
		for i := range 100 {
			synctest.Wait()
			c.resource("deployments").set(deploymentAt(t, 2, 2, 3, i%3))
			pass(50 * time.Millisecond)
		}
		c.resource("deployments").set(deploymentAt(t, 2, 2, 3, 3))
		require.NoError(t, (<-ended).err)
		require.LessOrEqual(t, strings.Count(log.String(), "\n"), 7)
		require.GreaterOrEqual(t, strings.Count(log.String(), "\n"), 6)
	})
}

func TestAWaitWithoutProgressSaysThatItGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, crashed1))
		log := &lines{}
		require.Error(t, (<-wait(t.Context(), c, live, log)).err)
		require.Contains(t, log.String(), "Deployment web: 1 of 3 updated, 2 ready, 2 old\n"+
			"Deployment web: pod web-2-x: container main keeps crashing: 1 restart, last exit code 2\n"+
			"Deployment web: still 1 of 3 updated, 2 ready, 2 old; pod web-2-x: container main keeps crashing: 1 "+
			"restart, last exit code 2 after 30s\n")
	})
}

// failing puts the condition ReplicaFailure on an object.
func failing(t *testing.T, o *unstructured.Unstructured, message string) *unstructured.Unstructured {
	t.Helper()
	require.NoError(t, unstructured.SetNestedSlice(o.Object, []any{
		map[string]any{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message},
	}, "status", "conditions"))
	return o
}

func TestPodsThatTheAPIRefusesFailTheRolloutUnlessAQuotaMayStillGiveThemRoom(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		message string
		took    time.Duration
		want    string
	}{
		"a policy": {`pods "web-2-x" is forbidden: violates PodSecurity "restricted:latest"`, 10 * time.Second,
			`Deployment prod/web: its pods are refused by the API: pods "web-2-x" is forbidden: violates PodSecurity`},
		"a quota": {`pods "web-2-x" is forbidden: exceeded quota: small`, time.Minute,
			`last state: 1 of 3 updated, 2 ready, 2 old; its pods are refused by the API: ` +
				`pods "web-2-x" is forbidden: exceeded quota: small`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, live := scene(t)
				c.resource("replicasets").set(failing(t, replicaSet(t, 2), tt.message))
				live = failing(t, live, tt.message)
				c.resource("deployments").set(live)
				r := <-wait(t.Context(), c, live, &lines{})
				require.ErrorContains(t, r.err, tt.want)
				require.Equal(t, tt.took, r.took)
			})
		})
	}
}

func TestPodsOfAnOldRevisionThatTheAPIRefusesDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		c.resource("replicasets").set(failing(t, replicaSet(t, 1), "no"))
		live = failing(t, live, "no")
		c.resource("deployments").set(live)
		ended := wait(t.Context(), c, live, &lines{})
		pass(30 * time.Second)
		c.resource("deployments").set(deploymentAt(t, 2, 2, 3, 3))
		require.NoError(t, (<-ended).err)
	})
}

func TestEventsShowWhatHoldsAPodThatDoesNotStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, `state: {waiting: {reason: ContainerCreating}}`))
		event := func(name, message string, age time.Duration) *unstructured.Unstructured {
			o := object(t, "{apiVersion: v1, kind: Event, metadata: {name: "+name+", uid: "+name+
				"}, type: Warning, reason: FailedMount}")
			o.Object["message"], o.Object["lastTimestamp"] = message, time.Now().Add(-age).UTC().Format(time.RFC3339)
			return o
		}
		c.resource("events").set(event("a", "of an earlier try", 2*time.Hour))
		c.resource("events").set(event("b", `MountVolume.SetUp failed for volume "conf": secret "conf" not found`, 0))
		log := &lines{}
		r := <-wait(t.Context(), c, live, log)
		const want = `pod web-2-x does not start: MountVolume.SetUp failed for volume "conf": secret "conf" not ` +
			`found (FailedMount)`
		require.Contains(t, log.String(), "Deployment web: "+want+"\n")
		require.Equal(t, time.Minute, r.took, "it may still come")
		require.ErrorContains(t, r.err, want)
	})
}

func TestWhatARuntimeSaysIsShownWithoutTheFramesOfItsProtocol(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const frame = "rpc error: code = Unknown desc = "
		c, live := scene(t, pod(t, 2, `image: web:v2, state: {waiting: {reason: ErrImagePull, message: "`+frame+
			`failed to pull and unpack: `+frame+`manifest unknown"}}`))
		r := <-wait(t.Context(), c, live, &lines{})
		require.ErrorContains(t, r.err, "(ErrImagePull): failed to pull and unpack: manifest unknown")
		require.NotContains(t, r.err.Error(), "rpc error")
	})
}

func TestATimeoutOfTheStageIsReportedAsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second,
			&rollout.TimeoutError{Timeout: 20 * time.Second, Setting: "the stage's timeout: 20s"})
		defer cancel()
		r := <-wait(ctx, c, live, &lines{})
		require.EqualError(t, r.err, "Deployment prod/web: not ready within 20s (the stage's timeout: 20s); last "+
			"state: 1 of 3 updated, 2 ready, 2 old")
		require.Equal(t, 20*time.Second, r.took)
	})
}

func TestWhatNothingProbesHasToStayUp(t *testing.T) {
	t.Parallel()
	unprobed := func(t *testing.T, ready int, probe string) *unstructured.Unstructured {
		live := deploymentAt(t, 2, 2, 3, ready)
		template := object(t, "{kind: PodTemplate, metadata: {labels: {app: web}}, spec: {containers: [{name: "+
			"main, image: app"+probe+"}]}}").Object
		delete(template, "kind")
		require.NoError(t, unstructured.SetNestedMap(live.Object, template, "spec", "template"))
		return live
	}
	annotated := func(p *unstructured.Unstructured) *unstructured.Unstructured {
		p.SetAnnotations(map[string]string{"pipedeck.dev/simulated": "true"})
		return p
	}
	for name, tt := range map[string]struct {
		probe string
		pods  []*unstructured.Unstructured
		took  time.Duration
	}{
		"nothing probes it":        {"", nil, 3 * time.Second},
		"its readiness is probed":  {", readinessProbe: {tcpSocket: {port: 80}}", nil, 0},
		"no container really runs": {"", []*unstructured.Unstructured{annotated(pod(t, 2, running))}, 0},
		"one container really runs": {"",
			[]*unstructured.Unstructured{annotated(pod(t, 1, running)), pod(t, 2, running)}, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := scene(t, tt.pods...)
				live := unprobed(t, 2, tt.probe)
				c.resource("deployments").set(live)
				ended := wait(t.Context(), c, live, &lines{})
				synctest.Wait()
				c.resource("deployments").set(unprobed(t, 3, tt.probe))
				r := <-ended
				require.NoError(t, r.err)
				require.Equal(t, tt.took, r.took)
			})
		})
	}
	t.Run("it does not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, _ := scene(t, pod(t, 2, running))
			live := unprobed(t, 2, "")
			c.resource("replicasets").set(ofTemplate(t, live))
			c.resource("deployments").set(live)
			ended := wait(t.Context(), c, live, &lines{})
			synctest.Wait()
			c.resource("deployments").set(unprobed(t, 3, ""))
			pass(time.Second)
			c.resource("pods").set(pod(t, 2, crashed))
			c.resource("deployments").set(unprobed(t, 2, ""))
			r := <-ended
			require.ErrorContains(t, r.err, "keeps crashing: 3 restarts")
			require.Equal(t, 11*time.Second, r.took)
		})
	})
}

// ofTemplate is the ReplicaSet that makes the pods of a Deployment's template.
func ofTemplate(t *testing.T, live *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	set := replicaSet(t, 2)
	template, _, err := unstructured.NestedMap(live.Object, "spec", "template")
	require.NoError(t, err)
	require.NoError(t, unstructured.SetNestedMap(set.Object, template, "spec", "template"))
	require.NoError(t, unstructured.SetNestedField(set.Object, "h2", "spec", "template", "metadata", "labels",
		"pod-template-hash"))
	return set
}

func TestPodsThatARecreationEndsAreNotThoseOfTheNewTemplate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 2, crashed))
		// The Deployment still has the revision of the ReplicaSet whose pods have to go first.
		require.NoError(t, unstructured.SetNestedField(live.Object, "v3", "spec", "template", "metadata", "labels",
			"version"))
		c.resource("deployments").set(live)
		ended := wait(t.Context(), c, live, &lines{})
		pass(20 * time.Second)
		c.resource("pods").remove(pod(t, 2, crashed))
		ready := deploymentAt(t, 2, 2, 3, 3)
		c.resource("deployments").set(ready)
		require.NoError(t, (<-ended).err)
	})
}

// warning is an Event about the pod of a revision.
func warning(t *testing.T, reason, message string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, "{apiVersion: v1, kind: Event, metadata: {name: a, uid: a}, type: Warning, reason: "+reason+"}")
	o.Object["message"], o.Object["lastTimestamp"] = message, time.Now().UTC().Format(time.RFC3339)
	return o
}

func TestTheAnswerOfAProbeIsLoggedForAPodThatIsNotReady(t *testing.T) {
	t.Parallel()
	const unready = `ready: false, state: {running: {}}`
	synctest.Test(t, func(t *testing.T) {
		c, live := scene(t, pod(t, 1, unready), pod(t, 2, unready))
		const answer = "Readiness probe failed: HTTP probe failed with statuscode: 503"
		c.resource("events").set(warning(t, "Unhealthy", answer))
		log := &lines{}
		r := <-wait(t.Context(), c, live, log)
		const want = "pod web-2-x is not ready: " + answer + " (Unhealthy)"
		require.Contains(t, log.String(), "Deployment web: "+want+"\n")
		require.NotContains(t, log.String(), "web-1-x", "an old pod does not count")
		require.ErrorContains(t, r.err, want)
		require.Equal(t, time.Minute, r.took)
	})
}

func TestAPodThatIsReadyButNotReachedIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := pod(t, 2, running)
		require.NoError(t, unstructured.SetNestedSlice(silent.Object, []any{map[string]any{
			"type": "pipedeck.dev/Listening", "status": "False", "reason": "NotListening",
			"message": "container main does not listen on port 80; it listens on no port",
		}}, "status", "conditions"))
		c, live := scene(t, silent)
		log := &lines{}
		ended := wait(t.Context(), c, live, log)
		synctest.Wait()
		c.resource("deployments").set(deploymentAt(t, 2, 2, 3, 3))
		require.NoError(t, (<-ended).err, "it is no failure")
		require.Contains(t, log.String(), "Deployment web: pod web-2-x is not reached: container main does not "+
			"listen on port 80; it listens on no port\n")
	})
}
