// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newFaultCommand(t *session.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use: "fault", Short: "Have faults happen on purpose in a running environment",
		Example: "  pipedeck fault add 'K8S_SYNC: kill@log 3'\n" +
			"  pipedeck fault add 'cluster: unavailable 3; delay 2s'\n" +
			"  pipedeck fault list\n  pipedeck fault clear",
	}
	cmd.AddCommand(newFaultAddCommand(t), newFaultListCommand(t), newFaultClearCommand(t))
	return cmd
}

func newFaultAddCommand(t *session.Target) *cobra.Command {
	var output format.Output
	var app string
	cmd := &cobra.Command{
		Use: "add RULE", Short: "Have a fault happen in a stage that comes next", Args: cobra.ExactArgs(1),
		Long: "Add a rule, TARGET: ACTION; ACTION…, in the grammar of --fault of pipedeck up. It happens in the\n" +
			"next attempts at a stage that fits. All targets and actions are in docs/faults.md.",
		Example: "  pipedeck fault add 'K8S_SYNC: kill@log 3; delay 1s'\n" +
			"  pipedeck fault add --app checkout 'cluster/apply Deployment: conflict'",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withFaults(cmd, t, func(ctx context.Context, s *session.Session) error {
			request := &deckv1.AddFaultRequest{Rule: args[0]}
			if app != "" {
				chosen, err := resolve.NewChange(s, cmd, args).Flag("app", app).Application()
				if err != nil {
					return err
				}
				request.ApplicationId = chosen.GetId()
			}
			added, err := s.Faults.AddFault(ctx, request)
			if err != nil {
				return err
			}
			warnOfUnmatched(s, added.GetFaults())
			return printFaults(s, added.GetFaults(), "a fault waits: %s; remove it with: pipedeck fault clear %s",
				&output)
		})
	}
	resolve.GivenVar(cmd.Flags(), &app, "app", "the application of the stage (default: all)")
	format.AddFlag(cmd, &output)
	return cmd
}

func newFaultListCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "list", Short: "List the faults that have not happened yet", Args: cobra.NoArgs,
		Example: "  pipedeck fault list\n  pipedeck fault list -o json",
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return withFaults(cmd, t, func(ctx context.Context, s *session.Session) error {
			list, err := s.Faults.ListFaults(ctx, &deckv1.ListFaultsRequest{})
			if err != nil {
				return err
			}
			var ids []string
			var rows [][]string
			matched := faultStates(s.State, list.GetFaults())
			for _, f := range list.GetFaults() {
				app := ""
				if found := s.State.Application(f.GetApplicationId()); found != nil {
					app = found.GetName()
				}
				ids = append(ids, f.GetId())
				rows = append(rows, []string{f.GetId(), app, matched[f.GetId()], f.GetRule()})
			}
			as := func() any { return document.NewFaults(list.GetFaults(), matched) }
			return output.List(s.Out, as, ids, format.Table{
				Columns: []format.Column{
					{Head: "ID"}, {Head: "APPLICATION", Yield: 1, Least: 12}, {Head: "STATE"},
					{Head: "RULE", Text: true},
				},
				Rows: rows,
			})
		})
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

func newFaultClearCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "clear [ID...]", Short: "Remove faults that have not happened yet",
		Long:    "Remove rules, without an ID all. A fault that happens in a stage already goes on.",
		Example: "  pipedeck fault clear\n  pipedeck fault clear 3f2a-1",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withFaults(cmd, t, func(ctx context.Context, s *session.Session) error {
			removed, err := s.Faults.ClearFaults(ctx, &deckv1.ClearFaultsRequest{Ids: args})
			if err != nil {
				return err
			}
			if len(args) > len(removed.GetFaults()) {
				return exit.Usage(fmt.Errorf("not all of the faults %s wait", strings.Join(args, ", ")),
					"list those that do with: pipedeck fault list"+s.Flags)
			}
			if len(removed.GetFaults()) == 0 && !output.Machine() {
				fmt.Fprintln(s.Err, "pipedeck: no fault waits")
			}
			return printFaults(s, removed.GetFaults(), "removed %s (%s)", &output)
		})
	}
	format.AddFlag(cmd, &output)
	return cmd
}

// printFaults prints a line for each rule; its form takes the rule and the id.
func printFaults(s *session.Session, faults []*deckv1.Fault, form string, output *format.Output) error {
	if output.Machine() {
		return output.Document(s.Out, document.NewFaults(faults, faultStates(s.State, faults)))
	}
	for _, f := range faults {
		if _, err := fmt.Fprintln(s.Out, text.Line(fmt.Sprintf(form, f.GetRule(), f.GetId()))); err != nil {
			return err
		}
	}
	return nil
}

// withFaults connects to the faults of the running environment.
func withFaults(cmd *cobra.Command, t *session.Target,
	steps func(context.Context, *session.Session) error) error {
	return t.Run(cmd, func(ctx context.Context, s *session.Session) error { return refusedFault(steps(ctx, s)) })
}

func refusedFault(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	switch s.Code() {
	case codes.Unimplemented:
		return exit.With(exit.NotStarted, errors.New("the environment is of an older pipedeck, which takes no faults"),
			"end it with pipedeck down, and start it again")
	case codes.InvalidArgument:
		return exit.Usage(errors.New(s.Message()),
			"write it like: pipedeck fault add 'WAIT: kill@log 3; delay 5s'; all actions are in docs/faults.md")
	case codes.FailedPrecondition, codes.DeadlineExceeded:
		return exit.With(exit.Failed, errors.New(s.Message()), "see what piped does with: pipedeck status")
	}
	return session.Refusal(err)
}
