// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestMetricsCoverDeploymentsStagesAndPlugins(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{log: hello}", "{do: error}"))
	p := e.start(t, "--launcher-version", "v9")
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, e.deck.awaitEnd(t, 0).GetStatus())
	const constant = `launcher_version="v9",pipecd_component="piped",piped="piped",piped_version="development"`
	failed := regexp.MustCompile(`deployment_status\{.*application_name="app",.*status="DEPLOYMENT_FAILURE"\} 1`)
	var text string
	require.Eventually(t, func() bool { // the control plane knew of the end before piped had its answer
		var status int
		status, text = p.admin(t, "/metrics")
		require.Equal(t, http.StatusOK, status)
		return failed.MatchString(text)
	}, wait, 10*time.Millisecond)
	for _, want := range []string{
		`deployment_status\{.*status="DEPLOYMENT_RUNNING"\} 0`,
		`piped_deployment_duration_seconds_count\{.*status="failure"\} 1`,
		`piped_stage_duration_seconds_count\{.*plugin="p",project="project",stage="A",status="succeeded"\} 1`,
		`piped_stage_duration_seconds_count\{.*plugin="p",project="project",stage="B",status="failed"\} 1`,
		`piped_plugin_call_duration_seconds_count\{.*method="ExecuteStage",outcome="ok",.*plugin="p",` +
			`project="project"\} [1-9]`,
		`piped_git_update_duration_seconds_count\{.*outcome="ok",.*repository="local"\} [1-9]`,
		`piped_plugin_up\{.*plugin="p",project="project"\} 1`,
		`piped_control_plane_connected\{` + constant + `,project="project"\} 1`,
		`piped_spool_reports\{` + constant + `,project="project"\} 0`,
		`piped_plugin_state\{.*plugin="p",project="project",state="running"\} 1`,
		`piped_healthy\{` + constant + `,project="project"\} 1`,
	} {
		require.Regexp(t, want, text)
	}
}
