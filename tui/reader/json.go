// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"encoding/json"
	"io"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// The lines of --output json. Field names are a published contract: they are never changed or removed.
type (
	jsonHead struct {
		// Time is RFC 3339 with nanoseconds, UTC.
		Time string `json:"time"`
		Type string `json:"type"`
	}
	jsonComponent struct {
		jsonHead
		Name   string `json:"name"`
		State  string `json:"state"`
		Detail string `json:"detail"`
		Hint   string `json:"hint,omitempty"`
	}
	jsonApplication struct {
		jsonHead
		ID     string `json:"id"`
		Name   string `json:"name"`
		Sync   string `json:"sync"`
		Health string `json:"health"`
		Reason string `json:"reason,omitempty"`
		Path   string `json:"path"`
		// URL is where it answers on this machine; left out while that is not known.
		URL string `json:"url,omitempty"`
	}
	jsonDeployment struct {
		jsonHead
		ID       string `json:"id"`
		App      string `json:"app"`
		Status   string `json:"status"`
		Commit   string `json:"commit"`
		Reason   string `json:"reason"`
		Strategy string `json:"strategy,omitempty"`
		Summary  string `json:"summary,omitempty"`
	}
	jsonStage struct {
		jsonHead
		Deployment string   `json:"deployment"`
		App        string   `json:"app"`
		ID         string   `json:"id"`
		Name       string   `json:"name"`
		Status     string   `json:"status"`
		Requires   []string `json:"requires"`
		Reason     string   `json:"reason,omitempty"`
		Attempt    int32    `json:"attempt"`
		Rollback   bool     `json:"rollback"`
		// Progress and Targets are left out where the plugin reports none.
		Progress *jsonProgress `json:"progress,omitempty"`
		Targets  []jsonTarget  `json:"targets,omitempty"`
	}
	jsonProgress struct {
		Done int64 `json:"done"`
		// Total is 0 when it is not known.
		Total int64  `json:"total"`
		Text  string `json:"text"`
	}
	jsonTarget struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		Detail string `json:"detail,omitempty"`
	}
	jsonLog struct {
		jsonHead
		Deployment string `json:"deployment"`
		// Stage is the id of the stage, StageName its name.
		Stage     string `json:"stage"`
		StageName string `json:"stage_name,omitempty"`
		Severity  string `json:"severity"`
		Text      string `json:"text"`
	}
	jsonPlugin struct {
		jsonHead
		Name     string  `json:"name"`
		State    string  `json:"state"`
		PID      int32   `json:"pid"`
		Restarts int32   `json:"restarts"`
		RSS      uint64  `json:"rss"`
		CPU      float64 `json:"cpu"`
		Detail   string  `json:"detail,omitempty"`
		// Piped is the id of the piped that runs it.
		Piped string `json:"piped,omitempty"`
	}
	jsonProblem struct {
		jsonHead
		Part string `json:"part"`
		// State is DEGRADED, and CLEARED when the cause is gone.
		State    string `json:"state"`
		Reason   string `json:"reason"`
		NextStep string `json:"next_step"`
		Since    string `json:"since"`
	}
	jsonSwitch struct {
		jsonHead
		Base string `json:"base"`
		Head string `json:"head"`
	}
	jsonResult struct {
		jsonHead
		ExitCode int    `json:"exit_code"`
		Reason   string `json:"reason"`
	}
)

// JSON writes one object a line, as in the contract of --output json; rss is in bytes, cpu in hundredths of
// a core. Strings are as they came: JSON escapes what could steer a terminal. See Follow for how it ends.
func JSON(ctx context.Context, client deckv1.DeckServiceClient, w io.Writer, opts Options) error {
	out := encoder(w)
	return Follow(ctx, client, opts, func(c Change) error {
		if line := jsonLine(c); line != nil {
			return out.Encode(line)
		}
		return nil
	})
}

// Switch writes a line of --output json between those of a base and those of HEAD; both are full hashes.
func Switch(w io.Writer, base, headCommit string) error {
	return encoder(w).Encode(jsonSwitch{head(time.Now(), "switch"), base, headCommit})
}

// Result writes the last line of --output json: how the command ends, and why.
func Result(w io.Writer, exitCode int, reason string) error {
	return encoder(w).Encode(jsonResult{head(time.Now(), "result"), exitCode, reason})
}

func encoder(w io.Writer) *json.Encoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out
}

func head(at time.Time, kind string) jsonHead {
	return jsonHead{Time: at.UTC().Format(time.RFC3339Nano), Type: kind}
}

func progressOf(stage *deckv1.Stage) *jsonProgress {
	if stage.GetProgress() == nil {
		return nil
	}
	return &jsonProgress{stage.GetProgress().GetDone(), stage.GetProgress().GetTotal(), stage.GetProgress().GetText()}
}

func targetsOf(stage *deckv1.Stage) (list []jsonTarget) {
	for _, target := range stage.GetTargets() {
		list = append(list, jsonTarget{target.GetName(), Name(target.GetStatus()), target.GetDetail()})
	}
	return list
}

// jsonLine is nil for changes that the contract has no line for.
func jsonLine(c Change) any {
	switch c.Kind {
	case Component:
		x := c.Component
		return jsonComponent{head(c.Time, "component"), x.GetName(), Name(x.GetState()), x.GetDetail(), x.GetHint()}
	case Application:
		x := c.Application
		return jsonApplication{
			head(c.Time, "application"), x.GetId(), x.GetName(), Name(x.GetSync()), Name(x.GetHealth()),
			x.GetSyncReason(), x.GetPath(), x.GetUrl(),
		}
	case Deployment:
		x := c.Deployment
		return jsonDeployment{
			head(c.Time, "deployment"), x.GetId(), x.GetApplicationName(), Name(x.GetStatus()),
			x.GetCommit().GetHash(), x.GetStatusReason(), x.GetStrategy(), x.GetSummary(),
		}
	case Stage, StageProgress:
		x := c.Stage
		requires := x.GetRequires()
		if requires == nil {
			requires = []string{}
		}
		return jsonStage{
			head(c.Time, "stage"), c.Deployment.GetId(), c.Deployment.GetApplicationName(), x.GetId(), x.GetName(),
			Name(x.GetStatus()), requires, x.GetStatusReason(), x.GetRetries() + 1, x.GetRollback(),
			progressOf(x), targetsOf(x),
		}
	case Log:
		x := c.Log
		return jsonLog{
			head(c.Time, "log"), x.GetDeploymentId(), x.GetStageId(), c.Stage.GetName(), Name(x.GetSeverity()),
			x.GetText(),
		}
	case Problem, ProblemCleared:
		x, state := c.Problem, problemPresent
		if c.Kind == ProblemCleared {
			state = problemCleared
		}
		return jsonProblem{
			head(c.Time, "problem"), x.GetPart(), state, x.GetReason(), x.GetNextStep(),
			x.GetSince().AsTime().Format(time.RFC3339Nano),
		}
	case Plugin:
		x := c.Plugin
		return jsonPlugin{
			head(c.Time, "plugin"), x.GetName(), Name(x.GetState()), x.GetPid(), x.GetRestarts(),
			x.GetRssBytes(), x.GetCpuPercent(), x.GetDetail(), x.GetPipedId(),
		}
	}
	return nil
}
