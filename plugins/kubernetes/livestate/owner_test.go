// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestAPodIsJudgedTogetherWithTheJobThatHasMadeIt(t *testing.T) {
	t.Parallel()
	const (
		waits = "status: {phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}"
		ended = "status: {phase: Failed, reason: Error}"
		ends  = "status: {conditions: [{type: Failed, status: 'True'}]}"
	)
	for name, c := range map[string]struct {
		annotations, job, pod string
		want                  sdk.HealthStatus
		says                  string
	}{
		"a hook whose image is missing": {"argocd.argoproj.io/hook: SyncFail", "status: {active: 1}", waits,
			sdk.Healthy, "belongs to the hook Job a: container c: ErrImagePull"},
		"a hook that has failed": {"helm.sh/hook: pre-delete", ends, ended, sdk.Healthy,
			"belongs to the hook Job a: the pod has failed: Error; its Job has failed, too"},
		"a Job whose image is missing": {"", "status: {active: 1}", waits, sdk.Unhealthy,
			"container c: ErrImagePull"},
		"an attempt of a Job": {"", "status: {active: 1}", ended, sdk.Healthy,
			"the pod has failed: Error; what made it goes on without it"},
		"a Job that has failed": {"", ends, ended, sdk.Healthy,
			"the pod has failed: Error; its Job has failed, too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := parse(t, fmt.Sprintf("{apiVersion: batch/v1, kind: Job, metadata: {name: a, uid: j, annotations: "+
				"{%s}}, %s}", c.annotations, c.job))
			pod := parse(t, "{apiVersion: v1, kind: Pod, metadata: {name: b, uid: p, ownerReferences: [{kind: Job, "+
				"name: a, uid: j}]}, "+c.pod+"}")
			states := judge{}.resources(t.Context(), []*object{{live: job}, {live: pod, parents: []string{"j"}}},
				"local")
			require.Equal(t, c.want, states[1].Health)
			require.Equal(t, c.says, states[1].HealthDescription)
		})
	}
}
