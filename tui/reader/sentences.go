// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Sentences writes a full sentence per change, with nothing that a screen reader would stumble over:
// no columns, symbols or abbreviations. See Follow for how it ends.
func Sentences(ctx context.Context, client deckv1.DeckServiceClient, w io.Writer, opts Options) error {
	return Follow(ctx, client, opts, func(c Change) error {
		for _, s := range sentences(c, opts) {
			if _, err := fmt.Fprintln(w, s); err != nil {
				return err
			}
		}
		return nil
	})
}

func sentences(c Change, opts Options) []string {
	var s string
	switch c.Kind {
	case Environment:
		s = environmentSentence(c.Environment, opts)
	case Component:
		s = componentSentence(c.Component)
	case Application:
		s = applicationSentence(c.Application)
	case Deployment:
		s = deploymentSentence(c.Deployment)
	case Stage:
		s = stageSentence(c)
	case StageWaits:
		s = fmt.Sprintf("Stage %s of %s waits for approval%s%s.%s",
			state.StageWord(c.Stage), c.Deployment.GetApplicationName(), approvers(c.Stage), subject(c.Stage),
			after(" To approve it, run: ", approval(c, opts)))
	case StageSilent:
		s = fmt.Sprintf("Stage %s of %s has had no output for %s.", state.StageWord(c.Stage),
			c.Deployment.GetApplicationName(), seconds(c.Stage.GetSilentSince(), c.Time))
	case PlanningWaits:
		s = fmt.Sprintf("The planning of the deployment of %s has waited for plugin %s for %s.",
			c.Deployment.GetApplicationName(), c.Deployment.GetPlanningWaitsFor(),
			seconds(c.Deployment.GetPlanningSince(), c.Time))
	case StagePaused:
		s = fmt.Sprintf("Stage %s of %s is %s at a breakpoint.%s", state.StageWord(c.Stage),
			c.Deployment.GetApplicationName(), state.PauseText(c.Stage), after(" To go on, run: ", goOn(c, opts)))
	case Plugin:
		s = pluginSentence(c.Plugin, c.PluginName)
	case Problem:
		if !shownByComponent(c) {
			s = problemSentence(c.Problem)
		}
	case ProblemCleared:
		s = "The problem with " + c.Problem.GetPart() + " is over."
	case Connection:
		s = connectionSentence(c)
	case Story:
		s = "Story, " + step(c.Caption) + ": " + c.Caption.GetText()
	case Log:
		return logSentences(c)
	}
	if s = text.Line(s); s == "" {
		return nil
	}
	return []string{s}
}

func environmentSentence(e *deckv1.Environment, opts Options) string {
	if e.GetRestarting() {
		return "Environment " + e.GetName() + " " + restarting + "."
	}
	s := fmt.Sprintf("Environment %s watches the repository %s.", e.GetName(), e.GetRepository())
	if e.GetRepository() == "" { // not known yet
		s = fmt.Sprintf("This is environment %s.", e.GetName())
	}
	if e.GetSimulated() {
		s += " Its cluster is simulated: no container runs."
	}
	if e.GetLocalPods() {
		s += " Images that are built here run as processes of this machine; other pods are simulated."
	}
	if hint := editHint(e, opts); hint != "" {
		s += " To see a deployment, " + hint + "."
	}
	return s
}

func componentSentence(c *deckv1.Component) string {
	switch c.GetState() {
	case deckv1.Component_STATE_STARTING:
		return sentence(c.GetName()+" is starting", c.GetDetail())
	case deckv1.Component_STATE_READY:
		return sentence(c.GetName()+" is ready", c.GetDetail())
	case deckv1.Component_STATE_FAILED:
		return strings.TrimSpace(sentence(c.GetName()+" has failed", c.GetDetail()) + " " + remedy(c.GetHint()))
	case deckv1.Component_STATE_STOPPED:
		return sentence(c.GetName()+" has stopped", c.GetDetail())
	}
	return ""
}

func applicationSentence(a *deckv1.Application) string {
	about := ""
	switch a.GetSync() {
	case deckv1.SyncStatus_SYNC_STATUS_SYNCED:
		about = "is in sync"
	case deckv1.SyncStatus_SYNC_STATUS_DEPLOYING:
		about = "is being deployed"
	case deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC:
		about = "is out of sync"
	case deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG:
		about = "has an invalid configuration"
	case deckv1.SyncStatus_SYNC_STATUS_ORPHANED:
		about = "is orphaned: its configuration is not in Git any more"
	default:
		return ""
	}
	switch a.GetHealth() {
	case deckv1.HealthStatus_HEALTH_STATUS_HEALTHY:
		about += " and healthy"
	case deckv1.HealthStatus_HEALTH_STATUS_OTHER:
		about += " and not healthy"
	}
	if said := answers(a); said != "" {
		about += " and " + said
	}
	return sentence("Application "+a.GetName()+" "+about, cmp.Or(a.GetSyncShortReason(), a.GetHealthReason()))
}

func deploymentSentence(d *deckv1.Deployment) string {
	subject := "Deployment of " + d.GetApplicationName()
	switch d.GetStatus() {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING:
		return sentence(subject+" is planned",
			"commit "+short(d.GetCommit().GetHash())+", "+text.FirstLine(d.GetCommit().GetMessage()))
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PLANNED:
		return sentence(fmt.Sprintf("%s is ready to run with %d stages", subject, len(d.GetStages())), d.GetSummary())
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING:
		return subject + " is running."
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK:
		return sentence(subject+" is rolling back", d.GetStatusReason())
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		return subject + " has succeeded."
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE:
		return sentence(subject+" has failed", d.GetStatusReason())
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED:
		return sentence(subject+" was cancelled", d.GetStatusReason())
	}
	return ""
}

func stageSentence(c Change) string {
	stage := c.Stage
	subject := "Stage " + state.StageWord(stage) + " of " + c.Deployment.GetApplicationName()
	switch stage.GetStatus() {
	case deckv1.StageStatus_STAGE_STATUS_RUNNING:
		if stage.GetRetries() > 0 {
			return fmt.Sprintf("%s is running again, attempt %d.", subject, stage.GetRetries()+1)
		}
		return subject + " is running."
	case deckv1.StageStatus_STAGE_STATUS_SUCCESS:
		took := state.StageTook(stage, c.Time)
		return sentence(fmt.Sprintf("%s has succeeded after %.1f seconds", subject, took.Seconds()), stage.GetDisplay())
	case deckv1.StageStatus_STAGE_STATUS_FAILURE:
		return sentence(subject+" has failed", stage.GetStatusReason())
	case deckv1.StageStatus_STAGE_STATUS_CANCELLED:
		return sentence(subject+" was cancelled", stage.GetStatusReason())
	case deckv1.StageStatus_STAGE_STATUS_SKIPPED:
		return sentence(subject+" was skipped", stage.GetStatusReason())
	case deckv1.StageStatus_STAGE_STATUS_EXITED:
		return sentence(subject+" ended the pipeline early", stage.GetStatusReason())
	}
	return ""
}

// count is a number with what it counts.
func count(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

func pluginSentence(p *deckv1.Plugin, name string) string {
	switch p.GetState() {
	case deckv1.Plugin_STATE_RUNNING:
		running := "Plugin " + name + " is running"
		if p.GetReloads() > 0 && p.GetCrashes() == 0 {
			running += fmt.Sprintf(" as build %s after %s", p.GetBuild().GetHash(), count(p.GetReloads(), "reload"))
		} else if p.GetRestarts() > 0 {
			running += fmt.Sprintf(" again after %d restarts", p.GetRestarts())
		}
		return sentence(running, p.GetDetail())
	case deckv1.Plugin_STATE_RESTARTING:
		return sentence("Plugin "+name+" is being restarted", p.GetDetail())
	case deckv1.Plugin_STATE_FAILED:
		return sentence("Plugin "+name+" has failed", p.GetDetail())
	case deckv1.Plugin_STATE_STOPPED:
		return sentence("Plugin "+name+" has stopped", p.GetDetail())
	}
	return ""
}

// logSentences gives the words of the plugin as they are, led in by whose they are.
func logSentences(c Change) []string {
	lead := text.Line(state.StageWord(c.Stage))
	if lead == "" {
		lead = "A stage"
	}
	if c.Log.GetSeverity() == deckv1.Severity_SEVERITY_ERROR {
		lead += ", error"
	}
	var out []string
	for part := range strings.SplitSeq(text.Clean(c.Log.GetText()), "\n") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, lead+": "+part)
		}
	}
	return out
}

// sentence joins what happened and more about it, and ends with a full stop.
func sentence(what, more string) string {
	if more = text.Line(more); more != "" {
		what += ": " + strings.TrimRight(more, ".")
	}
	return what + "."
}

func remedy(s string) string {
	s = text.Line(s)
	if s == "" {
		return ""
	}
	return "To fix it: " + strings.TrimRight(s, ".") + "."
}

// approvers names the users whose approval the stage needs; "" where anyone may approve.
func approvers(stage *deckv1.Stage) string {
	if len(stage.GetApprovers()) == 0 {
		return ""
	}
	return " by " + strings.Join(stage.GetApprovers(), " or ")
}

// subject is what the approval is about; "" where the plugin does not say.
func subject(stage *deckv1.Stage) string {
	if stage.GetApprovalSubject() == "" {
		return ""
	}
	return ", because it " + stage.GetApprovalSubject()
}

// after is what follows words, with them; "" where nothing does.
func after(words, follows string) string {
	if follows == "" {
		return ""
	}
	return words + follows
}

// approval is the command that approves the waiting stage; "" for a user who changes nothing.
func approval(c Change, opts Options) string {
	if opts.ReadOnly {
		return ""
	}
	waiting := state.StagesThat(c.Deployment, (*deckv1.Stage).GetCanApprove)
	command := "pipedeck approve " + text.ShellWord(c.Deployment.GetApplicationName()) + " " +
		text.ShellWord(state.StageArgument(waiting, c.Stage))
	if named := c.Stage.GetApprovers(); len(named) > 0 {
		command += " --as " + text.ShellWord(named[0])
	}
	return command + opts.Flags
}

// goOn is the command that goes on with the paused stage; "" for a user who changes nothing.
func goOn(c Change, opts Options) string {
	if opts.ReadOnly {
		return ""
	}
	return state.ContinueCommand(c.Deployment, c.Stage) + opts.Flags
}
