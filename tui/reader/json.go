// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"encoding/json"
	"io"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
)

// JSON writes one object a line, as in the contract of --output json. Strings are as they came: JSON escapes what could
// steer a terminal. See Follow for how it ends.
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
	return encoder(w).Encode(document.SwitchLine{
		LineHead: document.NewLineHead(time.Now(), "switch"), Switch: document.Switch{Base: base, Head: headCommit},
	})
}

// Result writes the last line of --output json: how the command ends, and why.
func Result(w io.Writer, exitCode int, reason string) error {
	return encoder(w).Encode(document.ResultLine{
		LineHead: document.NewLineHead(time.Now(), "result"),
		Result:   document.Result{ExitCode: exitCode, Reason: reason},
	})
}

// Part writes a line about a part of a command that the environment does not know, which is ready.
func Part(w io.Writer, now time.Time, name, detail string) error {
	return encoder(w).Encode(document.ComponentLine{
		LineHead: document.NewLineHead(now, "component"),
		Component: document.NewComponent(&deckv1.Component{
			Name: name, State: deckv1.Component_STATE_READY, Detail: detail,
		}),
	})
}

// OwnProblem writes a line about a problem of a command that the environment does not know.
func OwnProblem(w io.Writer, now time.Time, p *deckv1.Problem) error {
	return encoder(w).Encode(document.ProblemLine{
		LineHead: document.NewLineHead(now, "problem"), Problem: document.NewProblem(p, document.ProblemPresent),
	})
}

// NothingToDeploy writes the last line of a run of ci whose commits touch no application.
func NothingToDeploy(w io.Writer, reason string) error {
	return encoder(w).Encode(document.ResultLine{
		LineHead: document.NewLineHead(time.Now(), "result"),
		Result:   document.Result{Reason: reason, NothingToDeploy: true},
	})
}

func encoder(w io.Writer) *json.Encoder {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out
}

// jsonLine is nil for changes that the contract has no line for.
func jsonLine(c Change) any {
	head := func(kind string) document.LineHead { return document.NewLineHead(c.Time, kind) }
	switch c.Kind {
	case Component:
		return document.ComponentLine{LineHead: head("component"), Component: document.NewComponent(c.Component)}
	case Application:
		return document.ApplicationLine{
			LineHead: head("application"), Application: document.NewApplication(c.Application, nil),
		}
	case Deployment, PlanningWaits:
		return document.DeploymentLine{
			LineHead: head("deployment"), Deployment: document.NewDeployment(c.Deployment),
		}
	case Stage, StageProgress, StageSilent, StagePaused:
		return document.StageLine{LineHead: head("stage"), Stage: document.NewStage(c.Deployment, c.Stage)}
	case Log:
		return document.NewLogLine(c.Time, c.Log, c.Stage.GetName())
	case Problem:
		return document.ProblemLine{
			LineHead: head("problem"), Problem: document.NewProblem(c.Problem, document.ProblemPresent),
		}
	case ProblemCleared:
		return document.ProblemLine{
			LineHead: head("problem"), Problem: document.NewProblem(c.Problem, document.ProblemCleared),
		}
	case Connection:
		state := document.ProblemPresent
		if c.Connection.GetLost() == "" {
			state = document.ProblemCleared
		}
		return document.ProblemLine{LineHead: head("problem"), Problem: document.NewProblem(c.Problem, state)}
	case Story:
		return document.StoryLine{LineHead: head("story"), Caption: document.NewCaption(c.Caption)}
	case Plugin:
		return document.PluginLine{LineHead: head("plugin"), Plugin: document.NewPlugin(c.Plugin)}
	}
	return nil
}
