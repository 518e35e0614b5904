// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

func newHistoryCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "history APP", Short: "List the deployments of an application", Args: cobra.ExactArgs(1),
		Long: `List the deployments of one application, the newest first. -o wide shows what each was made for: a
commit, an event, drift, a sync, a chain, a retry, a rollback or a removal. pipedeck rollback deploys the commit
of an earlier one again. An application that was removed is named by its whole name or id.`,
		Example: "  pipedeck history hello-world\n  pipedeck history hello-world -o wide\n" +
			"  pipedeck rollback hello-world --to 3f2a1c9",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(_ context.Context, s *session.Session) error {
				deployments, err := historyOf(resolve.New(s, cmd, args))
				if err != nil {
					return err
				}
				l := deploymentList(s.State, deployments)
				l.name(s.Flags)
				withoutApplication(&l.table)
				if l.note != "" {
					fmt.Fprintln(s.Err, l.note)
				}
				return output.List(s.Out, l.document, l.names, l.table)
			})
		},
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

// historyOf returns the deployments of the application that the argument names. One that was removed has its whole name
// or id.
func historyOf(l *resolve.Line) ([]*deckv1.Deployment, error) {
	app, err := l.Argument(0).Application()
	if _, gone := errors.AsType[*resolve.RemovedError](err); gone {
		return ofRemoved(l.State, func(d *deckv1.Deployment) bool {
			return l.Args()[0] == d.GetApplicationName() || l.Args()[0] == d.GetApplicationId()
		}), nil
	}
	if err != nil {
		return nil, err
	}
	return l.State.Deployments(app.GetId()), nil
}

// ofRemoved returns those deployments of removed applications that are wanted.
func ofRemoved(s *session.State, wanted func(*deckv1.Deployment) bool) []*deckv1.Deployment {
	return slices.DeleteFunc(state.OfRemoved(s.Deck), func(d *deckv1.Deployment) bool { return !wanted(d) })
}

// withoutApplication leaves out the column that is the same in all rows.
func withoutApplication(table *format.Table) {
	at := slices.IndexFunc(table.Columns, func(c format.Column) bool { return c.Head == "APPLICATION" })
	table.Columns = slices.Delete(table.Columns, at, at+1)
	for i := range table.Rows {
		table.Rows[i] = slices.Delete(table.Rows[i], at, at+1)
	}
}

// kindOf says what a deployment was made for.
func kindOf(d *deckv1.Deployment) string {
	switch kind := strings.ToLower(document.Word(d.GetTrigger())); d.GetTrigger() {
	case deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_UNSPECIFIED:
		return ""
	case deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_RETRY:
		return kind + " of " + d.GetRetryOf()
	case deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_ROLLBACK:
		return kind + " to " + d.GetRollbackTo()
	default:
		return kind
	}
}
