// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
)

// statusOK is the answer of /healthz when deployments can run.
const statusOK = "ok"

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

// readiness knows whether deployments can run, by what the parts say.
type readiness struct {
	address   string // of the control plane
	connected func() bool
	// accepted is set once the control plane has accepted this piped.
	accepted atomic.Bool
	spool    func() spool.Stats
	traces   func() string
	plugins  func() []*agentv1.Plugin
	problems *problems
	mask     func(string) string
}

// ok reports whether deployments can run.
func (r *readiness) ok() bool { return r.answer().Status == statusOK }

// answer asks the parts.
func (r *readiness) answer() healthAnswer {
	h := healthAnswer{Status: statusOK, Reasons: []string{}}
	h.Components.ControlPlane = controlPlaneHealth{
		Address: r.address, Connected: r.connected(), Accepted: r.accepted.Load(),
	}
	h.Components.Spool = spoolOf(r.spool())
	h.Components.Plugins = []pluginHealth{}
	for _, s := range r.plugins() {
		h.Components.Plugins = append(h.Components.Plugins, pluginHealth{
			s.GetName(), strings.ToLower(strings.TrimPrefix(s.GetState().String(), "STATE_")),
			r.mask(s.GetDetail()), s.GetRestarts(),
		})
		if s.GetState() == agentv1.Plugin_STATE_STARTING {
			h.Reasons = append(h.Reasons, fmt.Sprintf("plugin %s is being started", s.GetName()))
		}
	}
	h.Components.Traces = r.traces()
	for _, p := range r.problems.registry.Problems() {
		h.Reasons = append(h.Reasons, r.mask(p.Part+": "+p.Reason))
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

// writeHealth answers "ok" or what is wrong, and everything when it is asked for more (?verbose). PipeCD v1 answers
// "ok" before anything works; here it means that deployments can run.
func writeHealth(w http.ResponseWriter, r *http.Request, h healthAnswer) {
	if h.Status == statusOK && !r.URL.Query().Has("verbose") {
		fmt.Fprint(w, statusOK)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if h.Status != statusOK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	_ = out.Encode(h)
}
