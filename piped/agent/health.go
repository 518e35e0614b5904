// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
)

// healthAnswer is what /healthz answers. Reasons is empty when deployments can run.
type healthAnswer struct {
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
	// Connected reports that there is a connection now, Accepted that piped was accepted since its start.
	Connected bool `json:"connected"`
	Accepted  bool `json:"accepted"`
}

// spoolHealth is what waits for the control plane.
type spoolHealth struct {
	Waiting int   `json:"waiting_reports"`
	Bytes   int64 `json:"bytes"`
	// Since is when the oldest was kept; nil when none waits.
	Since *time.Time `json:"since"`
	// Full reports that deployments wait for room.
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
func (a *Agent) health() healthAnswer {
	h := healthAnswer{Status: "ok", Reasons: []string{}}
	h.Components.ControlPlane = controlPlaneHealth{
		Address: a.options.Config.APIAddress, Connected: a.connected(), Accepted: a.introduced.Load(),
	}
	h.Components.Spool = spoolOf(a.spool.Stats())
	h.Components.Plugins = []pluginHealth{}
	for _, s := range a.plugins.Status() {
		h.Components.Plugins = append(h.Components.Plugins, pluginHealth{
			s.GetName(), strings.ToLower(strings.TrimPrefix(s.GetState().String(), "STATE_")),
			a.masker.Mask(s.GetDetail()), s.GetRestarts(),
		})
		if s.GetState() == agentv1.Plugin_STATE_STARTING {
			h.Reasons = append(h.Reasons, fmt.Sprintf("plugin %s is being started", s.GetName()))
		}
	}
	h.Components.Traces = a.tracer.State()
	for _, p := range a.problems.Problems() {
		h.Reasons = append(h.Reasons, a.masker.Mask(p.Part+": "+p.Reason))
	}
	if c := h.Components.ControlPlane; !c.Connected || !c.Accepted {
		h.Reasons = append([]string{"not connected to the control plane at " + c.Address}, h.Reasons...)
	}
	if len(h.Reasons) > 0 {
		h.Status = "unavailable"
	}
	return h
}

func spoolOf(s spool.Stats) spoolHealth {
	h := spoolHealth{Waiting: s.Reports, Bytes: s.Bytes, Full: s.Full,
		Dropped: s.Dropped.NoRoom + s.Dropped.Refused + s.Dropped.Unreadable}
	if !s.Oldest.IsZero() {
		since := s.Oldest.UTC()
		h.Since = &since
	}
	return h
}

// tellHealth answers "ok" or what is wrong, and everything when it is asked for more (?verbose). PipeCD v1 answers
// "ok" before anything works; here it means that deployments can run.
func tellHealth(w http.ResponseWriter, r *http.Request, h healthAnswer) {
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
