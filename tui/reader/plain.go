// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Plain writes one line per change, in columns that line up: local time, kind, what, state, more.
//
//	12:00:01.123  stage        hello-world K8S_SYNC  RUNNING
//
// Each line of a block of a log becomes one line. See Follow for how it ends.
func Plain(ctx context.Context, client deckv1.DeckServiceClient, w io.Writer, opts Options) error {
	return Follow(ctx, client, opts, func(c Change) error {
		for _, line := range plainLines(c, opts) {
			if _, err := fmt.Fprintf(w, "%s  %s\n", c.Time.Local().Format("15:04:05.000"), line); err != nil {
				return err
			}
		}
		return nil
	})
}

// restarting says that an environment goes on in another process.
const restarting = "starts again with other flags"

func plainLines(c Change, opts Options) []string {
	switch c.Kind {
	case Environment:
		return environmentLine(c.Environment, opts)
	case Component:
		if c.Component.GetState() == deckv1.Component_STATE_DEGRADED {
			return nil // its problem has a separate line
		}
		return line("component", c.Component.GetName(), Name(c.Component.GetState()), c.Component.GetDetail(),
			arrow(c.Component.GetHint()))
	case Application:
		a := c.Application
		return line("application", a.GetName(), Name(a.GetSync()), document.Health(a.GetHealth()),
			cmp.Or(a.GetSyncShortReason(), a.GetHealthReason()), answers(a))
	case Deployment:
		d := c.Deployment
		about := text.FirstLine(d.GetCommit().GetMessage())
		if failing(d.GetStatus()) {
			about = d.GetStatusReason()
		}
		return line("deployment", d.GetApplicationName()+" "+short(d.GetCommit().GetHash()), Name(d.GetStatus()), about)
	case Stage:
		if c.Was == "" && c.Stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			return nil // the plan is not news yet
		}
		return line("stage", c.Deployment.GetApplicationName()+" "+state.StageWord(c.Stage), Name(c.Stage.GetStatus()),
			attempt(c.Stage), c.Stage.GetStatusReason())
	case StageWaits:
		return line("stage", c.Deployment.GetApplicationName()+" "+state.StageWord(c.Stage),
			"WAITS FOR APPROVAL"+approvers(c.Stage), c.Stage.GetApprovalSubject(), arrow(approval(c, opts)))
	case StageSilent:
		return line("stage", c.Deployment.GetApplicationName()+" "+state.StageWord(c.Stage), Name(c.Stage.GetStatus()),
			"no output for "+seconds(c.Stage.GetSilentSince(), c.Time))
	case PlanningWaits:
		d := c.Deployment
		return line("deployment", d.GetApplicationName()+" "+short(d.GetCommit().GetHash()), Name(d.GetStatus()),
			"planning waits for plugin "+d.GetPlanningWaitsFor()+", "+seconds(d.GetPlanningSince(), c.Time))
	case StagePaused:
		return line("stage", c.Deployment.GetApplicationName()+" "+state.StageWord(c.Stage),
			"PAUSED", state.PauseText(c.Stage)+after("; ", arrow(goOn(c, opts))))
	case Plugin:
		p := c.Plugin
		detail := p.GetDetail()
		if detail == "" && p.GetPid() > 0 {
			detail = fmt.Sprintf("pid %d", p.GetPid())
		}
		return line("plugin", c.PluginName, Name(p.GetState()), detail)
	case Problem:
		return problemLines(c)
	case ProblemCleared:
		return line("problem", c.Problem.GetPart(), document.ProblemCleared)
	case Connection:
		return connectionLine(c)
	case Story:
		return line("story", step(c.Caption)+": "+c.Caption.GetText())
	case Log:
		return logLines(c)
	}
	return nil
}

func environmentLine(e *deckv1.Environment, opts Options) []string {
	if e.GetRestarting() {
		return line("environment", e.GetName(), restarting)
	}
	return line("environment", e.GetName(), clusterWords(e), simulated(e), e.GetRepository(), arrow(editHint(e, opts)))
}

func problemLines(c Change) []string {
	if shownByComponent(c) {
		return nil
	}
	return line("problem", c.Problem.GetPart(), document.ProblemPresent, c.Problem.GetReason(),
		arrow(c.Problem.GetNextStep()))
}

// line is one line of parts, of which empty ones are left out.
func line(kind string, parts ...string) []string {
	shown := []string{fmt.Sprintf("%-11s", kind)}
	for _, part := range parts {
		if part = text.Line(part); part != "" {
			shown = append(shown, part)
		}
	}
	return []string{strings.TrimRight(strings.Join(shown, "  "), " ")}
}

func logLines(c Change) []string {
	var lines []string
	whose := text.Line(c.Deployment.GetApplicationName() + " " + state.StageWord(c.Stage))
	for part := range strings.SplitSeq(strings.TrimRight(text.Clean(c.Log.GetText()), "\n"), "\n") {
		lines = append(lines, fmt.Sprintf("%-11s  %s  %s%s", "log", whose, severity(c.Log), part))
	}
	return lines
}

// answers says where an application answers; empty while that is not known.
func answers(a *deckv1.Application) string {
	if a.GetUrl() == "" {
		return ""
	}
	return "answers at " + a.GetUrl()
}

func failing(status deckv1.DeploymentStatus) bool {
	return status == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE ||
		status == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED ||
		status == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK
}

func severity(block *deckv1.LogBlock) string {
	if block.GetSeverity() == deckv1.Severity_SEVERITY_ERROR {
		return "ERROR "
	}
	return ""
}

// seconds is the time since a moment: "45 s".
func seconds(since *timestamppb.Timestamp, now time.Time) string {
	return fmt.Sprintf("%.0f s", state.Elapsed(since, nil, now).Seconds())
}

func attempt(stage *deckv1.Stage) string {
	if stage.GetRetries() == 0 {
		return ""
	}
	return fmt.Sprintf("attempt %d", stage.GetRetries()+1)
}

// step is the place in a story: "step 2 of 6".
func step(c *deckv1.Caption) string { return fmt.Sprintf("step %d of %d", c.GetStep(), c.GetSteps()) }

func arrow(hint string) string {
	if hint == "" {
		return ""
	}
	return "-> " + hint
}

func clusterWords(e *deckv1.Environment) string {
	var kinds []string
	for _, c := range e.GetClusters() {
		switch kind := c.GetKind(); {
		case kind == "none":
		case len(e.GetClusters()) > 1:
			kinds = append(kinds, kind+" cluster "+c.GetName())
		default:
			kinds = append(kinds, kind+" cluster")
		}
	}
	return cmp.Or(strings.Join(kinds, ", "), "no cluster")
}

// editHint is what a newcomer does first; empty for a user's own repository, and for a user who changes nothing.
func editHint(e *deckv1.Environment, opts Options) string {
	if e.GetEditHint() == "" || opts.ReadOnly {
		return ""
	}
	if e.GetLive() {
		return "edit " + e.GetEditHint() + " there and save"
	}
	return "edit " + e.GetEditHint() + " there and commit"
}

func simulated(e *deckv1.Environment) string {
	if e.GetSimulated() {
		return "simulated: no container runs"
	}
	if e.GetLocalPods() {
		return "built images run as local processes"
	}
	return ""
}

func short(hash string) string {
	if len(hash) > 7 {
		return hash[:7]
	}
	return hash
}
