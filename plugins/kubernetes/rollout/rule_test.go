// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

// byPhase judges widgets; the phase is missing until their controller has seen them.
const byPhase = `{"status": object.status.phase, "message": object.status.?says.orValue("")}`

// judged waits for a widget that has the statuses one after another, 5 s apart.
func judged(t *testing.T, statuses ...string) (log string, took time.Duration, err error) {
	t.Helper()
	rules, err := health.Compile([]config.HealthRule{{Group: "x.io", Kind: "Widget", CEL: byPhase}})
	require.NoError(t, err)
	defer rules.Close()
	synctest.Test(t, func(t *testing.T) {
		c, said := newFakeCluster(), &lines{}
		widgets := c.resource("widgets")
		at := func(status string) string {
			return "{apiVersion: x.io/v1, kind: Widget, metadata: {name: a, namespace: prod, uid: a, generation: 2}" +
				status + "}"
		}
		live := object(t, at(""))
		widgets.set(live)
		o := options
		o.Rules = rules
		begun := time.Now()
		ended := make(chan error, 1)
		go func() {
			ended <- rollout.Wait(t.Context(), c, []rollout.Workload{{Live: live, Resource: widgets}}, o, said)
		}()
		for _, status := range statuses {
			pass(5 * time.Second)
			widgets.set(object(t, at(", status: "+status)))
		}
		err = <-ended
		log, took = said.String(), time.Since(begun)
	})
	return log, took, err
}

func TestARuleSaysWhenAnObjectIsReady(t *testing.T) {
	t.Parallel()
	log, _, err := judged(t, "{phase: Degraded, says: no disk}", "{phase: Progressing}", "{phase: Healthy}")
	require.NoError(t, err)
	require.Contains(t, log, "Widget a: health[0].cel fails: no such key: status\n")
	require.Contains(t, log, "Widget a: Degraded: no disk\n")
	require.Contains(t, log, "Widget a: Healthy\n")
}

func TestARuleEndsTheWaitForWhatStaysDegraded(t *testing.T) {
	t.Parallel()
	_, took, err := judged(t, "{phase: Degraded, says: no disk}")
	require.EqualError(t, err, "Widget prod/a: Degraded: no disk")
	require.Equal(t, 5*time.Second+options.Grace, took.Round(time.Second))
	log, _, err := judged(t, "{phase: Progressing, observedGeneration: 1}", "{phase: Suspended, says: on holiday}")
	require.NoError(t, err)
	require.Contains(t, log, "Widget a: Progressing: the controller has not seen the change yet\n")
	require.Contains(t, log, "Widget a: Suspended: on holiday: not waited for\n")
}

func TestARuleThatFailsForLongFailsTheStageInOneLine(t *testing.T) {
	t.Parallel()
	_, took, err := judged(t, "{says: nothing of a phase}")
	require.EqualError(t, err, "Widget prod/a: health[0].cel fails: no such key: phase")
	require.Equal(t, options.Grace, took.Round(time.Second))
}

func TestAnObjectThatGetsNowhereIsGivenUpAtTheEnd(t *testing.T) {
	t.Parallel()
	_, took, err := judged(t, "{phase: Progressing, says: waits for a disk}")
	require.ErrorContains(t, err, "last state: Progressing: waits for a disk")
	require.Equal(t, options.Timeout, took.Round(time.Second))
}
