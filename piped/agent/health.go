// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
)

// deliveryTime is how long kept reports may wait over a connection that stands before that counts as trouble:
// they go out within a moment, in order, and what starts deployments waits behind them.
const deliveryTime = 10 * time.Second

// health is what /healthz tells. Reasons is empty when deployments can run.
type health struct {
	Status     string     `json:"status"`
	Reasons    []string   `json:"reasons"`
	Components components `json:"components"`
}

type components struct {
	ControlPlane controlPlaneHealth `json:"control_plane"`
	Spool        spoolHealth        `json:"spool"`
	Plugins      []pluginHealth     `json:"plugins"`
	Traces       string             `json:"traces"`
}

type controlPlaneHealth struct {
	Address string `json:"address"`
	// Connected tells that there is a connection now, Accepted that piped was accepted since its start.
	Connected bool `json:"connected"`
	Accepted  bool `json:"accepted"`
}

// spoolHealth is what waits for the control plane.
type spoolHealth struct {
	Waiting int   `json:"waiting_reports"`
	Bytes   int64 `json:"bytes"`
	// Since is when the oldest was kept; nil when none waits.
	Since *time.Time `json:"since"`
	// Full tells that deployments wait for room.
	Full    bool  `json:"full"`
	Dropped int64 `json:"dropped_reports"`
}

type pluginHealth struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	Detail   string `json:"detail,omitempty"`
	Restarts int32  `json:"restarts"`
}

// health asks the parts.
func (a *Agent) health() health {
	now, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	h := health{Status: "ok", Reasons: []string{}}
	h.Components.ControlPlane = controlPlaneHealth{
		Address: a.options.Config.APIAddress, Connected: a.client.Connected(now) == nil, Accepted: a.introduced.Load(),
	}
	h.Components.Spool = spoolOf(a.spool.Stats())
	h.Components.Plugins = []pluginHealth{}
	for _, s := range a.plugins.Status() {
		h.Components.Plugins = append(h.Components.Plugins, pluginHealth{
			s.GetName(), strings.ToLower(strings.TrimPrefix(s.GetState().String(), "STATE_")), a.masker.Mask(s.GetDetail()), s.GetRestarts(),
		})
		if reason := a.pluginProblem(s); reason != "" {
			h.Reasons = append(h.Reasons, reason)
		}
	}
	h.Components.Traces = a.tracer.State()
	h.Reasons = append(reachProblems(h.Components, time.Now()), h.Reasons...)
	if len(h.Reasons) > 0 {
		h.Status = "unavailable"
	}
	return h
}

// reachProblems tells what is wrong between piped and the control plane.
func reachProblems(c components, now time.Time) (reasons []string) {
	if !c.ControlPlane.Connected || !c.ControlPlane.Accepted {
		reasons = append(reasons, "not connected to the control plane at "+c.ControlPlane.Address)
	}
	switch s := c.Spool; {
	case s.Full:
		reasons = append(reasons, fmt.Sprintf("deployments wait: there is no room for more reports to the control plane, %d wait since %s", s.Waiting, s.Since.Format(time.RFC3339)))
	case c.ControlPlane.Connected && s.Since != nil && now.Sub(*s.Since) > deliveryTime:
		reasons = append(reasons, fmt.Sprintf("%d reports do not get through to the control plane since %s", s.Waiting, s.Since.Format(time.RFC3339)))
	}
	return reasons
}

func spoolOf(s spool.Stats) spoolHealth {
	h := spoolHealth{Waiting: s.Reports, Bytes: s.Bytes, Full: s.Full, Dropped: s.Dropped.NoRoom + s.Dropped.Refused + s.Dropped.Unreadable}
	if !s.Oldest.IsZero() {
		since := s.Oldest.UTC()
		h.Since = &since
	}
	return h
}

// pluginProblem is empty when the plugin runs.
func (a *Agent) pluginProblem(s *agentv1.Plugin) string {
	detail := a.masker.Mask(s.GetDetail())
	switch s.GetState() {
	case agentv1.Plugin_STATE_RUNNING:
		return ""
	case agentv1.Plugin_STATE_FAILED, agentv1.Plugin_STATE_STOPPED:
		return fmt.Sprintf("plugin %s does not run: %s", s.GetName(), detail)
	default:
		return fmt.Sprintf("plugin %s is being started %s", s.GetName(), detail)
	}
}

// tellHealth answers "ok" or what is wrong, and everything when it is asked for more (?verbose). PipeCD v1 answers
// "ok" before anything works; here it means that deployments can run.
func tellHealth(w http.ResponseWriter, r *http.Request, h health) {
	if h.Status == "ok" && !r.URL.Query().Has("verbose") {
		fmt.Fprint(w, "ok")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if h.Status != "ok" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(h)
}
