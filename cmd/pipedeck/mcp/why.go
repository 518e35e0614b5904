// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/tui/document"
)

const (
	// defaultLines and maxLines bound the lines of a log, whyLines those of each stage in why.
	defaultLines = 100
	maxLines     = 1000
	whyLines     = 30
	// maxTroubled bounds the applications that why explains at once.
	maxTroubled = 5
)

// logs returns the last lines of a log, each an object in JSON.
func (r *runner) logs(ctx context.Context, in logs) ([]byte, error) {
	args := []string{in.Application}
	if in.Stage != "" {
		args = append(args, in.Stage)
	}
	printed, err := r.run(ctx, command("logs", args...)...)
	return lastLines(printed, min(cmp.Or(max(in.Lines, 0), defaultLines), maxLines)), err
}

func lastLines(printed []byte, n int) []byte {
	lines := bytes.Split(printed, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], []byte("\n"))
}

// explanation is what why returns.
type explanation struct {
	Problems json.RawMessage `json:"problems,omitempty"`
	// Troubles are the applications that have failed, wait, are not healthy or not in sync.
	Troubles []trouble `json:"troubles"`
	// More counts applications in trouble that are left out.
	More int `json:"more,omitempty"`
}

// trouble is one application, and what may be the cause.
type trouble struct {
	Application document.Application `json:"application"`
	// Deployment is the newest one.
	Deployment *document.Deployment `json:"deployment,omitempty"`
	// Stages are those that have failed, wait or run, with the end of their logs.
	Stages []troubledStage `json:"stages,omitempty"`
}

type troubledStage struct {
	document.Stage
	Log []string `json:"log"`
}

// why gathers the reasons for what is not well, of one application or of all.
func (r *runner) why(ctx context.Context, name string) ([]byte, error) {
	var listed struct {
		Applications []document.Application `json:"applications"`
	}
	if err := r.read(ctx, &listed, command("apps")...); err != nil {
		return nil, err
	}
	all := explanation{Troubles: []trouble{}}
	for _, a := range listed.Applications {
		if name != "" && a.Name != name && a.ID != name {
			continue
		}
		t, err := r.troubleOf(ctx, a, name != "")
		switch {
		case err != nil:
			return nil, err
		case t == nil:
		case len(all.Troubles) == maxTroubled:
			all.More++
		default:
			all.Troubles = append(all.Troubles, *t)
		}
	}
	if name != "" && len(all.Troubles) == 0 {
		return nil, fmt.Errorf("there is no application %q\nnext step: the tool applications lists them", name)
	}
	var status struct {
		Problems json.RawMessage `json:"problems"`
	}
	if err := r.read(ctx, &status, command("status")...); err != nil {
		return nil, err
	}
	all.Problems = status.Problems
	return json.MarshalIndent(all, "", "  ")
}

// troubleOf is what is not well with an application; nil for nothing, unless it is asked for.
func (r *runner) troubleOf(ctx context.Context, a document.Application, asked bool) (*trouble, error) {
	var history struct {
		Deployments []document.Deployment `json:"deployments"`
	}
	if err := r.read(ctx, &history, command("history", a.ID)...); err != nil {
		return nil, err
	}
	t := &trouble{Application: a}
	if len(history.Deployments) > 0 {
		t.Deployment = &history.Deployments[0]
	}
	well := a.Sync == "SYNCED" && a.Health == "HEALTHY" && (t.Deployment == nil || t.Deployment.Status == "SUCCESS")
	if well && !asked {
		return nil, nil
	}
	if t.Deployment == nil || t.Deployment.Stages == nil {
		return t, nil
	}
	for _, s := range *t.Deployment.Stages {
		if !slices.Contains([]string{"FAILURE", "RUNNING", "CANCELLED"}, s.Status) {
			continue
		}
		printed, err := r.run(ctx, command("logs", t.Deployment.ID, s.ID)...)
		if err != nil && len(printed) == 0 {
			printed = []byte(err.Error())
		}
		t.Stages = append(t.Stages, troubledStage{s, texts(lastLines(printed, whyLines))})
	}
	t.Deployment.Stages = nil // those that matter are in Stages
	return t, nil
}

// texts are the texts of event lines; lines that are none are kept.
func texts(lines []byte) (all []string) {
	for line := range bytes.Lines(lines) {
		var of document.LogLine
		if json.Unmarshal(line, &of) == nil && of.Text != "" {
			all = append(all, of.Text)
			continue
		}
		all = append(all, string(bytes.TrimSpace(line)))
	}
	return all
}

// read decodes what a command prints.
func (r *runner) read(ctx context.Context, into any, args ...string) error {
	printed, err := r.run(ctx, args...)
	if len(printed) == 0 {
		return cmp.Or(err, fmt.Errorf("pipedeck %s printed nothing", args[0]))
	}
	return json.Unmarshal(printed, into)
}
