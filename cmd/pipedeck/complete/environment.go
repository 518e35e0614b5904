// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// patience bounds what a completion waits for: a user has pressed a key and looks at the line.
const patience = 800 * time.Millisecond

// maxOffers bounds what is offered of one kind: shells print all of it.
const maxOffers = 200

// offers are the values to choose from, each with a description.
type offers struct{ list []cobra.Completion }

func (o *offers) add(value, format string, args ...any) {
	if value == "" || text.Line(value) != value || len(o.list) == maxOffers {
		return // what is not one line cannot be typed
	}
	o.list = append(o.list, cobra.CompletionWithDesc(value, text.Line(fmt.Sprintf(format, args...))))
}

// query is what is asked about a running environment.
type query struct {
	state *session.State
	// args are the arguments before the one that is completed.
	args []string
}

// application returns the application that the first argument names; nil when it names none, or several.
func (q query) application() *deckv1.Application {
	found := resolve.Best(q.state.Applications(), func(a *deckv1.Application) int {
		return resolve.Fit(q.args[0], a.GetName(), a.GetId())
	})
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// of offers what find finds in the running environment. It waits at most for patience.
func of(t *session.Target, find func(query, *offers)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		s := read(cmd.Context(), t)
		if s == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := &offers{}
		find(query{s, args}, found)
		return found.list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// read returns the state of the running environment; nil when there is none that answers.
func read(ctx context.Context, t *session.Target) *session.State {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	deck, conn, err := t.Connect(ctx)
	if err != nil {
		return nil
	}
	defer conn.Close()
	s, err := session.ReadState(ctx, deck)
	if err != nil {
		return nil
	}
	return s
}

// applications offers all applications.
func applications(q query, found *offers) {
	for _, a := range q.state.Applications() {
		found.add(q.state.ApplicationArgument(a), "%s, %s", reader.Name(a.GetSync()), reader.Name(a.GetHealth()))
	}
}

// running offers the deployments that have not ended, and their applications.
func running(q query, found *offers) {
	var under []*deckv1.Deployment
	for _, d := range q.state.AllDeployments() {
		if !state.Ended(d.GetStatus()) {
			under = append(under, d)
		}
	}
	for _, d := range under {
		found.add(d.GetId(), "%s", about(d))
	}
	for _, a := range q.state.Applications() {
		n := 0
		for _, d := range under {
			if d.GetApplicationId() == a.GetId() {
				n++
			}
		}
		if n == 1 {
			found.add(a.GetName(), "its deployment")
		}
	}
}

// about describes a deployment.
func about(d *deckv1.Deployment) string {
	return fmt.Sprintf("%s %s, commit %s, %s old", d.GetApplicationName(), reader.Name(d.GetStatus()),
		line.Commit(d.GetCommit().GetHash()), age(time.Since(d.GetCreatedAt().AsTime())))
}

// age is a time in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// rollbackTargets offers the deployments that the application can be rolled back to.
func rollbackTargets(q query, found *offers) {
	if len(q.args) == 0 {
		return
	}
	app := q.application()
	if app == nil {
		return
	}
	targets, _ := q.state.RollbackTargets(app)
	for _, d := range targets {
		found.add(d.GetId(), "%s", about(d))
	}
}

// plugins offers the plugin processes.
func plugins(q query, found *offers) {
	seen := map[string]bool{}
	for _, p := range q.state.Plugins() {
		if !seen[p.GetName()] {
			seen[p.GetName()] = true
			found.add(p.GetName(), "%s", reader.Name(p.GetState()))
		}
	}
}

// pipeds offers the pipeds.
func pipeds(q query, found *offers) {
	for _, p := range q.state.Pipeds() {
		found.add(p.GetName(), "%s", reader.Name(p.GetState()))
	}
}

// targets offers the clusters of the environment.
func targets(q query, found *offers) {
	for _, c := range q.state.Environment().GetClusters() {
		found.add(c.GetName(), "%s", c.GetKind())
	}
}

// environments offers the environments of this machine.
func environments(t *session.Target) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found := &offers{}
		root, err := t.Root()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _, err := workspace.List(root)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, w := range all {
			word := "stopped"
			if alive, err := w.Alive(); err == nil && alive {
				word = "running"
			}
			found.add(w.Name, "%s", word)
		}
		return found.list, cobra.ShellCompDirectiveNoFileComp
	}
}
