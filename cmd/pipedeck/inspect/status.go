// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/reader"
)

func newStatusCommand(t *session.Target) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "status", Short: "Show the parts, pipeds and problems of an environment", Args: cobra.NoArgs,
		Long: `Show the parts of the environment and its pipeds, the addresses of applications that run on this
machine, and a table of problems with the next step for each.
Exit code 0: no problem is known, though a part may still be starting; 5: the environment is degraded.`,
		Example: "  pipedeck status\n  pipedeck status -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
				show := printStatus
				if output == "json" {
					show = printStatusJSON
				}
				if err := show(s.Out, s.State, localAddresses(ctx, s)); err != nil {
					return err
				}
				if len(s.State.Problems()) > 0 {
					return exit.Silent(exit.Degraded)
				}
				return nil
			})
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

func printStatus(w io.Writer, s *session.State, addresses []address) error {
	var components, problems [][]string
	for _, c := range s.Components() {
		components = append(components, []string{c.GetName(), reader.Name(c.GetState()),
			took(c.GetStartedAt(), c.GetEndedAt()), c.GetDetail()})
	}
	if err := format.Table(w, []string{"COMPONENT", "STATE", "TOOK", "DETAIL"}, components); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := format.Table(w, []string{"PIPED", "STATE", "VERSION", "APPLICATIONS", "REPOSITORIES", "ID"},
		pipedRows(s)); err != nil {
		return err
	}
	if err := printAddresses(w, addresses); err != nil {
		return err
	}
	for _, p := range s.Problems() {
		problems = append(problems, []string{p.GetPart(), took(p.GetSince(), nil), p.GetReason(), p.GetNextStep()})
	}
	if len(problems) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\ndegraded: %s\n", line.Count(len(problems), "problem"))
	return format.Table(w, []string{"PART", "FOR", "REASON", "NEXT STEP"}, problems)
}

func pipedRows(s *session.State) [][]string {
	applications := map[string]int{}
	for _, a := range s.Applications() {
		applications[a.GetPipedId()]++
	}
	var rows [][]string
	for _, p := range s.Pipeds() {
		rows = append(rows, []string{
			p.GetName(), reader.Name(p.GetState()), p.GetVersion(), fmt.Sprint(applications[p.GetId()]),
			strings.Join(p.GetRepositories(), ","), p.GetId(),
		})
	}
	return rows
}

func printStatusJSON(w io.Writer, s *session.State, addresses []address) error {
	return format.JSON(w, map[string]any{
		"environment": s.Environment(), "components": s.Components(), "pipeds": s.Pipeds(),
		"degraded": len(s.Problems()) > 0, "problems": s.Problems(), "addresses": addresses,
	})
}
