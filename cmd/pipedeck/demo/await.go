// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// waiting is the status of a stage that can be approved.
const waiting = "WAITING"

// awaited names a condition for viewers.
func awaited(c story.Condition) string {
	subject, want := c.Deployment, c.Status
	switch {
	case c.Application != "":
		subject, want = c.Application, c.Sync
	case c.Plugin != "":
		subject, want = "plugin "+c.Plugin, c.State
		if c.Restarts > 0 {
			want += " after " + view.Count(c.Restarts, "restart")
		}
		if c.Reloads > 0 {
			want += " after " + view.Count(c.Reloads, "reload")
		}
	case c.Stage != "":
		subject += " " + c.Stage
	}
	if c.Reason != "" {
		want += fmt.Sprintf(" with the reason %q", c.Reason)
	}
	return subject + " " + want
}

// errTooLate ends the wait for a condition.
var errTooLate = errors.New("the condition did not hold in time")

// await returns when a condition holds. The error says what is there in its place.
func (p *Play) await(ctx context.Context, c story.Condition) error {
	within := story.DefaultWithin
	if c.Within != nil {
		within = c.Within.Std()
	}
	// It is no deadline, which the server would know, too, and might be the first to report.
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(within, func() { cancel(errTooLate) }).Stop()
	present := ""
	var never error
	last, err := session.AwaitState(bounded, p.Deck, func(s *session.State) (holds bool) {
		holds, present, never = p.holds(s.Deck, c)
		return holds || never != nil
	})
	switch {
	case never != nil:
		return fmt.Errorf("awaited %s: %w", awaited(c), never)
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), errTooLate):
		return fmt.Errorf("awaited %s for %s: %s", awaited(c), within,
			cmp.Or(present, "the environment does not answer")+unready(last))
	}
	return err
}

// unready names the parts of the environment that still start or have failed, after a semicolon; empty for none.
func unready(s *session.State) string {
	if s == nil {
		return ""
	}
	var words strings.Builder
	for _, part := range s.Components() {
		switch part.GetState() {
		case deckv1.Component_STATE_STARTING, deckv1.Component_STATE_FAILED, deckv1.Component_STATE_DEGRADED:
			words.WriteString("; " + said(part.GetName(), word(part.GetState(), "STATE_"), part.GetDetail()))
		}
	}
	return words.String()
}

// holds reports whether a condition holds; if not, what is there, and the error when the condition never will.
func (p *Play) holds(d *state.Deck, c story.Condition) (holds bool, present string, never error) {
	switch {
	case c.Plugin != "":
		return holdsOfPlugin(d, c)
	case c.Application != "":
		app := application(d, c.Application)
		if app == nil {
			return false, "there is no such application", nil
		}
		sync := word(app.GetSync(), "SYNC_STATUS_")
		reason := cmp.Or(app.GetSyncReason(), app.GetSyncShortReason())
		return sync == c.Sync && strings.Contains(reason, c.Reason), said("it", sync, app.GetSyncShortReason()), nil
	}
	return p.holdsOfDeployment(d, c)
}

func holdsOfPlugin(d *state.Deck, c story.Condition) (holds bool, present string, never error) {
	for _, plugin := range d.Plugins() {
		if plugin.GetName() != c.Plugin {
			continue
		}
		now := word(plugin.GetState(), "STATE_")
		restarts, reloads := int(plugin.GetRestarts()), int(plugin.GetReloads())
		return now == c.State && restarts >= c.Restarts && reloads >= c.Reloads, said("it", now+" after "+
			view.Count(restarts, "restart")+" and "+view.Count(reloads, "reload"), plugin.GetDetail()), nil
	}
	return false, "there is no such plugin", nil
}

func (p *Play) holdsOfDeployment(d *state.Deck, c story.Condition) (holds bool, present string, never error) {
	deployment := p.newest(d, c.Deployment)
	if deployment == nil {
		return false, "it has not begun", nil
	}
	status, reason := word(deployment.GetStatus(), "DEPLOYMENT_STATUS_"), deployment.GetStatusReason()
	present = said("the deployment", status, reason)
	if c.Stage != "" {
		stage := stageOf(deployment, c.Stage)
		if stage == nil {
			present += "; " + noStage(deployment, c.Stage)
			if state.Ended(deployment.GetStatus()) {
				never = errors.New(present)
			}
			return false, present, never
		}
		status, reason = word(stage.GetStatus(), "STAGE_STATUS_"), stage.GetStatusReason()
		present = said("the stage", status, reason) + "; " + present
		if stage.GetCanApprove() && c.Status == waiting {
			status = waiting
		}
	}
	if status == c.Status && strings.Contains(reason, c.Reason) {
		return true, "", nil
	}
	if state.Ended(deployment.GetStatus()) { // which ends its stages, too
		return false, present, errors.New(present)
	}
	return false, present, nil
}

// newest is the deployment of an application that conditions are about; nil before it began.
func (p *Play) newest(d *state.Deck, name string) *deckv1.Deployment {
	app := application(d, name)
	if app == nil {
		return nil
	}
	newest := d.Newest(app.GetId())
	if newest == nil || newest.GetId() == p.before[name] ||
		p.commit != "" && newest.GetCommit().GetHash() != p.commit {
		return nil
	}
	return newest
}

func application(d *state.Deck, name string) *deckv1.Application {
	for _, app := range d.Applications() {
		if app.GetName() == name {
			return app
		}
	}
	return nil
}

// stageOf finds a stage by the id that its author gave it, or by its type.
func stageOf(d *deckv1.Deployment, name string) *deckv1.Stage {
	for _, stage := range d.GetStages() {
		if stage.GetConfigId() == name || stage.GetName() == name {
			return stage
		}
	}
	return nil
}

// noStage says that a deployment has no stage of a name, and which it has.
func noStage(d *deckv1.Deployment, name string) string {
	if len(d.GetStages()) == 0 {
		return "it has no stages yet"
	}
	var names []string
	for _, stage := range d.GetStages() {
		names = append(names, cmp.Or(stage.GetConfigId(), stage.GetName()))
	}
	return fmt.Sprintf("it has no stage %q; its stages: %s", name, strings.Join(names, ", "))
}

// word is a value of an enum without the prefix that all of its values have.
func word(value fmt.Stringer, prefix string) string {
	return strings.TrimPrefix(value.String(), prefix)
}

// said is what there is in place of what is awaited.
func said(subject, status, reason string) string {
	if reason != "" {
		status += ": " + text.FirstLine(reason)
	}
	return subject + " is " + status
}
