// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

// Not in parallel: it counts the goroutines of the whole process.
func TestDeploymentsLeaveNoGoroutineBehind(t *testing.T) {
	const deployments = 200
	a := startAgent(t, pipeline("needs: [], with: {}", "needs: [], with: {do: fail}", "needs: []"))
	a.Submit(newDeployment("first", "app")) // whatever stays for all
	a.controlPlane.awaitEnd(t, "first")
	rest := func() bool {
		a.controlPlane.mu.Lock()
		defer a.controlPlane.mu.Unlock()
		for _, deploying := range a.controlPlane.deploying {
			if deploying {
				return false
			}
		}
		return true
	}
	before := 0
	require.Eventually(t, func() bool {
		before = runtime.NumGoroutine()
		return rest()
	}, time.Minute, time.Millisecond)
	for i := range deployments {
		a.Submit(newDeployment(fmt.Sprint("d", i), fmt.Sprint("app", i%10)))
	}
	for i := range deployments {
		require.Equal(
			t, model.DeploymentStatus_DEPLOYMENT_FAILURE, a.controlPlane.awaitEnd(t, fmt.Sprint("d", i)).GetStatus(),
		)
	}
	require.Eventually(
		t, func() bool { return rest() && runtime.NumGoroutine() <= before }, time.Minute, 10*time.Millisecond,
		"%d goroutines before", before,
	)
}
