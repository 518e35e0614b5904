// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/porttest"
)

func TestPipedDeploysTheHeadAndEveryCommit(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{log: hello}", "{}"))
	p := e.start(t)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())
	e.commit(t, "second", pipeline("{do: error}"))
	second := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, second.GetStatus())
	require.Equal(t, "Stage A failed: the moon is missing", second.GetStatusReason())
	require.Equal(t, "second", second.GetCommit().GetMessage())

	status, body := p.admin(t, "/healthz")
	require.Equal(t, http.StatusOK, status, body)
	_, body = p.admin(t, "/version")
	require.Equal(t, "development", body)
	p.terminate(t)
}

func TestStoppedPipedLeavesDeploymentsToTheNext(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *pipedProcess){
		"SIGTERM": func(t *testing.T, p *pipedProcess) { p.terminate(t) },
		"SIGKILL": func(t *testing.T, p *pipedProcess) {
			require.NoError(t, p.Process.Kill())
			p.exit(t)
		},
		"end of stdin": func(t *testing.T, p *pipedProcess) {
			require.NoError(t, p.stdin.Close())
			require.Zero(t, p.exit(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marker := filepath.Join(t.TempDir(), "marker")
			e := newEnvironment(t, pipeline("{}", fmt.Sprintf("{do: block-once, file: %q}", marker)))
			first := e.start(t, "--exit-with-stdin")
			require.Eventually(t, func() bool { _, err := os.Stat(marker); return err == nil }, wait, time.Millisecond)
			plugin := e.deck.pluginPID()
			end(t, first)
			require.Eventually(
				t, func() bool { return syscall.Kill(plugin, 0) == syscall.ESRCH }, wait, time.Millisecond,
				"the plugin ends with piped",
			)
			d := e.deck.awaitStage(t, 1, deckv1.StageStatus_STAGE_STATUS_RUNNING)
			require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, d.GetStatus())

			e.start(t)
			d = e.deck.awaitEnd(t, 0)
			require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), d.GetStatusReason())
			require.EqualValues(t, 0, d.GetStages()[0].GetRetries(), "an ended stage is not run again")
			require.EqualValues(t, 1, d.GetStages()[1].GetRetries())
		})
	}
}

func TestMistakesInTheConfigurationEndWithCode2AndThePlace(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	good, err := os.ReadFile(e.config)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		args []string
		text string
		want string
	}{
		"wrong type":   {nil, strings.Replace(string(good), "port: 0", "port: many", 1), "bad.yaml:10:"},
		"missing file": {[]string{"--config-file", "/no/such/file"}, "", "/no/such/file"},
		"unknown flag": {[]string{"--no-such-flag"}, "", "--no-such-flag"},
		"two sources":  {[]string{"--config-data", "e30="}, "", "exclude each other"},
		"log level":    {[]string{"--log-level", "loud"}, "", "want debug, info, warn or error"},
		"log encoding": {[]string{"--log-encoding", "xml"}, "", "want json, humanize or console"},
		"secret next to it": {
			[]string{"--config-gcp-secret", "x"}, "", "--config-file and --config-gcp-secret exclude each other",
		},
		"profiler": {[]string{"--profile"}, "", "not offered; leave the flag out"},
		"v0 provider": {
			[]string{"--enable-default-kubernetes-cloud-provider"}, "",
			"a flag of PipeCD v0: name the cluster as a deploy target",
		},
		"v0 cache":     {[]string{"--app-manifest-cache-count=150"}, "", "a flag of PipeCD v0"},
		"message size": {[]string{"--max-recv-msg-size", "0"}, "", "want a number of bytes above 0"},
		"port":         {[]string{"--admin-port", "70000"}, "", "--admin-port is 70000, want 0 to 65535"},
		"grace":        {[]string{"--grace-period", "-1s"}, "", "--grace-period is -1s, want more than 0"},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.args
			if c.text != "" {
				args = []string{"--config-file", e.write(t, "bad.yaml", c.text)}
			}
			p := e.start(t, args...)
			require.Equal(t, 2, p.exit(t), "%s", p.output)
			require.Contains(t, p.output.String(), c.want)
		})
	}
}

func TestWrongFailpointsEndWithCode2(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	p := e.startWith(t, "stage-call=explode")
	require.Equal(t, 2, p.exit(t), "%s", p.output)
	require.Contains(t, p.output.String(), `read PIPED_FAILPOINTS: failpoint stage-call: "explode" is no action`)
}

func TestRefusedKeyEndsWithCode1AndTheNextStep(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.write(t, "key", strings.Repeat("x", 50))
	p := e.start(t)
	require.Equal(t, 1, p.exit(t), "%s", p.output)
	require.Contains(t, p.output.String(), "check projectID, pipedID and the piped key")
}

func TestMissingControlPlaneIsWaitedForAndHealthzSaysSo(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	unused := porttest.Address(t)
	config, err := os.ReadFile(e.config)
	require.NoError(t, err)
	p := e.start(t, "--config-file", e.write(t, "alone.yaml", strings.Replace(string(config), e.address, unused, 1)))
	status, body := p.admin(t, "/healthz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	var health struct {
		Status  string
		Reasons []string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &health), body)
	require.Equal(t, "unavailable", health.Status)
	require.Contains(t, health.Reasons, "not connected to the control plane at "+unused)
	p.terminate(t)
}

func TestTwoPipedsDoNotShareAWorkDirectory(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.start(t)
	e.deck.awaitEnd(t, 0)
	second := e.start(t)
	require.Equal(t, 1, second.exit(t))
	require.Contains(t, second.output.String(), "another piped is using the work directory")
}

func TestFailedPluginFailsItsDeploymentsAndPipedGoesOn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	config, err := os.ReadFile(e.config)
	require.NoError(t, err)
	e.write(t, "piped.yaml", strings.Replace(string(config), "rollback: ROLLBACK", "start: exit", 1))
	p := e.start(t)
	end := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, end.GetStatus())
	require.Contains(t, end.GetStatusReason(), "exited with code 3")
	require.Contains(t, end.GetStatusReason(), "cannot find the moon")
	status, body := p.admin(t, "/healthz")
	require.Equal(t, http.StatusServiceUnavailable, status, body)
	require.Contains(t, body, "plugin p: quarantined")
	status, body = p.admin(t, "/livez")
	require.Equal(t, http.StatusOK, status, body)
	p.terminate(t)
}
