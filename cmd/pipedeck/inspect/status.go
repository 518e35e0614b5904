// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newStatusCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "status", Short: "Show the parts, pipeds and problems of an environment", Args: cobra.NoArgs,
		Long: `Show the parts of the environment and its pipeds, the addresses of applications that run on this
machine and those where others watch, and a table of problems with the next step for each.
Exit code 0: every part is ready, its piped is connected, and no problem is known; 3: it is still
starting, or its piped is not connected; 5: the environment is degraded.`,
		Example: "  pipedeck status\n  pipedeck status -o wide\n  pipedeck status -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
				shares, err := sharesOf(ctx, s)
				if err != nil {
					return err
				}
				if err := showStatus(s, localAddresses(ctx, s), shares, &output); err != nil {
					return err
				}
				return verdict(s)
			})
		},
	}
	format.AddTableFlags(cmd, &output)
	return cmd
}

// verdict is how the command ends once the state was shown. A problem counts more than a part that is starting, because
// it does not go away by itself.
func verdict(s *session.Session) error {
	if len(s.State.Problems()) > 0 {
		return exit.Silent(exit.Degraded)
	}
	starting := document.StartingParts(s.State.Components(), s.State.Pipeds())
	if len(starting) == 0 {
		return nil
	}
	return exit.With(exit.NotStarted, errors.New(startingText(s, starting)),
		"try again in a moment, or watch it with: pipedeck attach"+s.Flags)
}

// startingText names the parts that are not ready, and says what those do that have begun, and for how long.
func startingText(s *session.Session, parts []string) string {
	for _, c := range s.State.Components() {
		i := slices.Index(parts, c.GetName())
		if i >= 0 && c.GetState() == deckv1.Component_STATE_STARTING && c.GetDetail() != "" {
			parts[i] += fmt.Sprintf(" (%s, for %s)", text.Clean(c.GetDetail()), took(c.GetStartedAt(), nil))
		}
	}
	return fmt.Sprintf("environment %q is still starting: %s", s.State.Environment().GetName(),
		strings.Join(parts, ", "))
}

// noteStarting says why a list has nothing yet: while parts of the environment start, that is no surprise.
func noteStarting(s *session.Session, listed int) {
	parts := document.StartingParts(s.State.Components(), s.State.Pipeds())
	if listed == 0 && len(parts) > 0 {
		fmt.Fprintln(s.Err, startingText(s, parts))
	}
}

// sharesOf asks where others watch; an environment of an older version does not say.
func sharesOf(ctx context.Context, s *session.Session) ([]*deckv1.Share, error) {
	list, err := s.Sharing.ListShares(ctx, &deckv1.ListSharesRequest{})
	if err != nil && status.Code(err) != codes.Unimplemented {
		return nil, fmt.Errorf("list where others watch: %w", err)
	}
	return list.GetShares(), nil
}

func showStatus(s *session.Session, addresses []document.Address, shares []*deckv1.Share, output *format.Output) error {
	if output.Machine() {
		return output.Document(s.Out, document.NewStatus(s.State.Environment(), s.State.Components(), s.State.Pipeds(),
			s.State.Problems(), addresses, shares))
	}
	return printStatus(s.Out, s.State, addresses, shares, output)
}

// printStatus prints the tables for users.
func printStatus(w io.Writer, s *session.State, addresses []document.Address, shares []*deckv1.Share,
	output *format.Output) error {
	var components, problems [][]string
	for _, c := range s.Components() {
		components = append(components, []string{c.GetName(), document.Word(c.GetState()),
			took(c.GetStartedAt(), c.GetEndedAt()), withNextStep(c.GetDetail(), c.GetHint())})
	}
	if err := output.Table(w, format.Table{Columns: []format.Column{
		{Head: "COMPONENT"}, {Head: "STATE", State: true}, {Head: "TOOK", Drop: 1}, {Head: "DETAIL", Text: true},
	}, Rows: components}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := output.Table(w, format.Table{Columns: []format.Column{
		{Head: "PIPED"}, {Head: "STATE", State: true}, {Head: "VERSION", Drop: 2}, {Head: "APPLICATIONS", Drop: 1},
		{Head: "REPOSITORIES", Yield: 1, Least: 8, Drop: 3}, {Head: "ID", Yield: 2, ID: true, Drop: 4},
	}, Rows: pipedRows(s)}); err != nil {
		return err
	}
	if err := printAddresses(w, addresses, output); err != nil {
		return err
	}
	if err := printShares(w, shares, output); err != nil {
		return err
	}
	for _, p := range s.Plugins() {
		for _, line := range pluginNotes(p) {
			fmt.Fprintf(w, "\nplugin %s: %s\n", s.PluginName(p), text.Clean(line))
		}
	}
	for _, p := range s.Problems() {
		problems = append(problems, []string{p.GetPart(), took(p.GetSince(), nil), p.GetReason(), p.GetNextStep()})
	}
	if len(problems) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\ndegraded: %s\n", line.Count(len(problems), "problem"))
	return output.Table(w, format.Table{Columns: []format.Column{
		{Head: "PART", Yield: 1, Least: 12}, {Head: "FOR", Drop: 1}, {Head: "REASON", Text: true},
		{Head: "NEXT STEP", Text: true},
	}, Rows: problems})
}

// printShares prints where others watch.
func printShares(w io.Writer, shares []*deckv1.Share, output *format.Output) error {
	if len(shares) == 0 {
		return nil
	}
	var rows [][]string
	for _, share := range shares {
		rows = append(rows, []string{share.GetPart(), fmt.Sprint(share.GetWatching()), share.GetAddress()})
	}
	fmt.Fprintln(w)
	return output.Table(w, format.Table{Columns: []format.Column{
		{Head: "SHARED"}, {Head: "WATCHING"}, {Head: "ADDRESS", Text: true},
	}, Rows: rows})
}

// pluginNotes are what a user should know of a plugin that works, or may not: that its piped does not report it, who
// started it, and how often it has crashed.
func pluginNotes(p *deckv1.Plugin) (lines []string) {
	if p.GetState() == deckv1.Plugin_STATE_UNSPECIFIED && p.GetDetail() != "" {
		lines = append(lines, "UNKNOWN: "+p.GetDetail())
	}
	if p.GetHeld() {
		lines = append(lines, p.GetDetail())
	}
	if p.GetAttached() != "" {
		lines = append(lines, "attached: its author has started the process at "+p.GetAttached())
	}
	if n := int(p.GetCrashes()); n > 0 {
		said := "1 crash"
		if n > 1 {
			said = fmt.Sprint(n, " crashes")
		}
		own := slices.DeleteFunc(slices.Clone(p.GetExits()), func(e *deckv1.PluginExit) bool {
			return e.GetInjected() || e.GetAbandoned()
		})
		if len(own) > 0 {
			exit := own[len(own)-1]
			said += fmt.Sprintf(", the last at %s: it %s", exit.GetAt().AsTime().Local().Format(time.TimeOnly),
				exit.GetReason())
		}
		lines = append(lines, said+"; read more with: pipedeck plugins "+p.GetName())
	}
	return lines
}

func pipedRows(s *session.State) [][]string {
	applications := map[string]int{}
	for _, a := range s.Applications() {
		applications[a.GetPipedId()]++
	}
	var rows [][]string
	for _, p := range s.Pipeds() {
		rows = append(rows, []string{
			p.GetName(), document.Word(p.GetState()), p.GetVersion(), fmt.Sprint(applications[p.GetId()]),
			strings.Join(p.GetRepositories(), ","), p.GetId(),
		})
	}
	return rows
}
