// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

type report struct {
	Status     string
	Reasons    []string
	Components struct {
		ControlPlane struct {
			Address             string
			Connected, Accepted bool
		} `json:"control_plane"`
		Spool struct {
			Waiting int `json:"waiting_reports"`
			Bytes   int
			Since   *time.Time
			Full    bool
			Dropped int `json:"dropped_reports"`
		}
		Plugins []struct {
			Name, State string
			Restarts    int
		}
		Traces string
	}
}

func health(t *testing.T, p *pipedProcess) (int, report) {
	t.Helper()
	status, body := p.admin(t, "/healthz?verbose")
	var h report
	require.NoError(t, json.Unmarshal([]byte(body), &h), body)
	return status, h
}

func TestHealthReportsEachPartAndWhatWaits(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e := newEnvironment(t, pipeline(fmt.Sprintf("{do: hold-once, file: %q}", gate.Path)))
	f := newFront(t, e)
	p := e.start(t)
	gate.Await(t)
	status, h := health(t, p)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ok", h.Status)
	require.Empty(t, h.Reasons)
	require.True(t, h.Components.ControlPlane.Connected)
	require.True(t, h.Components.ControlPlane.Accepted)
	require.Zero(t, h.Components.Spool.Waiting)
	require.Nil(t, h.Components.Spool.Since)
	require.Len(t, h.Components.Plugins, 1)
	require.Equal(t, "p", h.Components.Plugins[0].Name)
	require.Equal(t, "running", h.Components.Plugins[0].State)
	require.NotEmpty(t, h.Components.Traces)

	before := time.Now()
	f.kill()
	gate.Open()
	p.awaitOutput(t, "deployment ended")
	status, h = health(t, p)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.False(t, h.Components.ControlPlane.Connected)
	require.Equal(t, []string{"not connected to the control plane at " + h.Components.ControlPlane.Address}, h.Reasons)
	require.Positive(t, h.Components.Spool.Waiting)
	require.Positive(t, h.Components.Spool.Bytes)
	require.WithinRange(t, *h.Components.Spool.Since, before.Add(-time.Second), time.Now())
	_, text := p.admin(t, "/metrics")
	require.Regexp(t, `piped_spool_reports\{[^}]*\} [1-9]`, text)
	require.Regexp(t, `piped_control_plane_connected\{[^}]*\} 0`, text)

	f.back(t)
	require.Eventually(t, func() bool {
		status, body := p.admin(t, "/healthz")
		return status == http.StatusOK && body == "ok"
	}, wait, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		_, text := p.admin(t, "/metrics")
		return strings.Contains(text, "piped_spool_reports{") && strings.Contains(text, "piped_spool_bytes{")
	}, wait, 10*time.Millisecond)
	e.deck.awaitEnd(t, 0)
	require.Eventually(t, func() bool {
		_, h := health(t, p)
		return h.Components.Spool.Waiting == 0 && h.Components.Spool.Since == nil
	}, wait, 10*time.Millisecond)
}
