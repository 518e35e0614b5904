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
	// defaultLines and maxLines bound the lines of a log, whyLines those of each stage in why, and whySize their bytes:
	// several stages have to fit into an answer.
	defaultLines = 100
	maxLines     = 1000
	whyLines     = 30
	whySize      = 8 << 10
	// maxTroubled bounds the applications that why explains at once.
	maxTroubled = 5
)

// logs returns the last lines of a log, as objects in JSON, one a line, and a note where there are more.
func (r *runner) logs(ctx context.Context, in logs) (printed []byte, note string, err error) {
	args := []string{in.Application}
	if in.Stage != "" {
		args = append(args, in.Stage)
	}
	asked := cmp.Or(in.Lines, defaultLines)
	pieces, total, err := r.end(ctx, asked, maxResult, args...)
	var encoded bytes.Buffer
	to := json.NewEncoder(&encoded)
	for _, piece := range pieces {
		if err := to.Encode(piece); err != nil {
			return nil, "", err
		}
	}
	return bytes.TrimSpace(encoded.Bytes()), noteOf(lineCount(texts(pieces)), total, asked), err
}

// noteOf says how many lines are left out; it is empty for none.
func noteOf(returned, total, asked int) string {
	if returned >= total {
		return ""
	}
	note := fmt.Sprintf("these are the last %d of %d lines; %d are left out", returned, total, total-returned)
	if returned < min(asked, total) {
		note += fmt.Sprintf(", because an answer has at most %d KiB", maxResult>>10)
	}
	if returned < asked || asked == maxLines {
		return note + "\nnext step: name a stage, or read all of them with: pipedeck logs"
	}
	return note + fmt.Sprintf("\nnext step: ask for more with lines, at most %d", maxLines)
}

// end returns the last n lines of a log, in at most size bytes of JSON, and how many lines the log has.
func (r *runner) end(ctx context.Context, n, size int, args ...string) ([]document.LogLine, int, error) {
	out := &tailBuffer{limit: maxPrinted}
	err := r.runInto(ctx, out, command("logs", args...)...)
	return lastPieces(out.Bytes(), n, size), printedLines(out.Bytes()), err
}

// why gathers the reasons for what is not well, of one application or of all.
func (r *runner) why(ctx context.Context, name string) (all explanation, err error) {
	var listed struct {
		Applications []document.Application `json:"applications"`
	}
	if err := r.read(ctx, &listed, command("apps")...); err != nil {
		return all, err
	}
	all.Troubles = []trouble{}
	for _, a := range listed.Applications {
		if name != "" && a.Name != name && a.ID != name {
			continue
		}
		t, err := r.troubleOf(ctx, a, name != "")
		switch {
		case err != nil:
			return all, err
		case t == nil:
		case len(all.Troubles) == maxTroubled:
			all.More++
		default:
			all.Troubles = append(all.Troubles, *t)
		}
	}
	if name != "" && len(all.Troubles) == 0 {
		return all, fmt.Errorf("there is no application %q\nnext step: the tool applications lists them", name)
	}
	var status struct {
		Problems []document.Problem `json:"problems"`
		Starting []string           `json:"starting"`
	}
	if err := r.read(ctx, &status, command("status")...); err != nil {
		return all, err
	}
	all.Problems, all.Starting = status.Problems, status.Starting
	all.Summary = all.summary(len(listed.Applications), name)
	return all, all.fit(maxResult / 2) // it is sent twice: as data and as text
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
		pieces, _, err := r.end(ctx, whyLines, whySize, t.Deployment.ID, s.ID)
		lines := texts(pieces)
		if err != nil && len(lines) == 0 {
			lines = []string{err.Error()}
		}
		t.Stages = append(t.Stages, troubledStage{s, lines})
	}
	t.Deployment.Stages = nil // those that matter are in Stages
	return t, nil
}

// texts are the texts of the pieces of a log.
func texts(pieces []document.LogLine) (all []string) {
	for _, piece := range pieces {
		all = append(all, piece.Text)
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
