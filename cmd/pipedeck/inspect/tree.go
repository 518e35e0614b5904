// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newTreeCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "tree APP", Short: "Show the live resources of an application", Args: cobra.ExactArgs(1),
		Long: `Show what runs of an application: each object in the cluster below its owner, its health, and why
it is not healthy or not as in Git.`,
		Example: "  pipedeck tree hello-world\n  pipedeck tree hello-world -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
				app, err := resolve.New(s, cmd, args).Argument(0).Application()
				if err != nil {
					return err
				}
				rows, err := readResources(ctx, s, app)
				if err != nil {
					return err
				}
				warnOfProblem(s, app)
				document := func() any { return document.NewResources(app, resourcesOf(rows)) }
				return output.List(s.Out, document, resourceNames(rows), treeTable(rows))
			})
		},
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

func resourcesOf(rows []state.TreeRow) []*deckv1.Resource {
	all := make([]*deckv1.Resource, len(rows))
	for i, row := range rows {
		all[i] = row.Resource
	}
	return all
}

// resourceNames name resources as kubectl does: kind/name.
func resourceNames(rows []state.TreeRow) []string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = strings.ToLower(row.GetKind()) + "/" + row.GetName()
	}
	return names
}

func treeTable(rows []state.TreeRow) format.Table {
	table := format.Table{Columns: []format.Column{
		{Head: "RESOURCE", Yield: 1, Least: 24, Indented: true}, {Head: "HEALTH", State: true}, {Head: "AGE", Drop: 2},
		{Head: "REASON", Text: true},
		{Head: "NAMESPACE", Wide: true}, {Head: "TARGET", Wide: true},
	}}
	several := severalTargets(rows)
	for _, row := range rows {
		name := rails(row) + row.GetKind() + " " + row.GetName()
		if several && len(row.Rails) == 0 {
			name += " at " + row.GetDeployTarget()
		}
		table.Rows = append(table.Rows, []string{name, document.Health(row.GetHealth()), age(row.Resource),
			resourceReason(row.Resource), row.GetNamespace(), row.GetDeployTarget()})
	}
	return table
}

func severalTargets(rows []state.TreeRow) bool {
	for _, row := range rows {
		if row.GetDeployTarget() != rows[0].GetDeployTarget() {
			return true
		}
	}
	return false
}

// rails are the lines from an owner to what it owns.
func rails(row state.TreeRow) string {
	if len(row.Rails) == 0 {
		return ""
	}
	var b strings.Builder
	for _, more := range row.Rails[1:] {
		b.WriteString(map[bool]string{true: "│  ", false: "   "}[more])
	}
	return b.String() + map[bool]string{true: "└─ ", false: "├─ "}[row.Last]
}

// age is empty for an object that is missing in the cluster.
func age(r *deckv1.Resource) string {
	if !r.GetCreatedAt().IsValid() || r.GetDrift() != "" && r.GetHealthReason() == r.GetDrift() {
		return ""
	}
	return resolve.Age(time.Since(r.GetCreatedAt().AsTime()))
}

// resourceReason is what its plugin says about the health of a resource, such as how a hook ended, and how the resource
// differs from Git.
func resourceReason(r *deckv1.Resource) string {
	reasons := []string{}
	if r.GetHealthReason() != "" {
		reasons = append(reasons, r.GetHealthReason())
	}
	if drift := r.GetDrift(); drift != "" && drift != r.GetHealthReason() {
		reasons = append(reasons, "not as in Git: "+drift)
	}
	return text.Line(strings.Join(reasons, "; "))
}
