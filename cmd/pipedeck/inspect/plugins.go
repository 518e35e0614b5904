// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

func newPluginsCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "plugins [NAME]", Short: "List the plugin processes", Args: cobra.MaximumNArgs(1),
		Long: `List the plugin processes, each with the build that runs and how often it has crashed.
With NAME, only that plugin, and below it its last five exits: when and how it ended, the first line of
its error, and the place in its sources where that is known.`,
		Example: "  pipedeck plugins\n  pipedeck plugins greeter\n  pipedeck plugins -o wide\n" +
			"  pipedeck plugins -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(_ context.Context, s *session.Session) error {
				plugins := s.State.Plugins()
				if len(args) == 1 {
					plugin, err := resolve.New(s, cmd, args).Argument(0).Plugin("")
					if err != nil {
						return err
					}
					plugins = []*deckv1.Plugin{plugin}
				}
				noteStarting(s, len(plugins))
				l := listPlugins(s.State, plugins)
				err := output.List(s.Out, l.document, l.names, l.table)
				if err != nil || len(args) == 0 || output.Machine() || output.Names() {
					return err
				}
				return printExits(s.Out, plugins[0], &output)
			})
		},
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

func listPlugins(s *session.State, plugins []*deckv1.Plugin) listing {
	l := listing{table: format.Table{Columns: []format.Column{
		{Head: "PIPED", Yield: 3, Least: 8, Drop: 4}, {Head: "NAME", Yield: 1, Least: 12}, {Head: "STATE", State: true},
		{Head: "PID", Drop: 2}, {Head: "BUILD", Drop: 1}, {Head: "BUILT", Drop: 5}, {Head: "VERSION", Drop: 6},
		{Head: "CRASHES", Drop: 3}, {Head: "RELOADS", Drop: 7}, {Head: "MEMORY", Drop: 8}, {Head: "CPU", Drop: 9},
		{Head: "FILES", Drop: 11}, {Head: "THREADS", Drop: 12}, {Head: "GOROUTINES", Drop: 13},
		{Head: "STAGES", Yield: 4, Least: 8, Drop: 10}, {Head: "DETAIL", Text: true},
		{Head: "RESTARTS", Wide: true}, {Head: "BINARY", Wide: true},
	}}}
	for _, p := range plugins {
		l.names = append(l.names, resolve.PluginArgument(s, p))
		l.table.Rows = append(l.table.Rows, []string{
			s.PipedName(p.PipedId), p.Name, document.PluginState(p), fmt.Sprint(p.Pid), p.GetBuild().GetHash(),
			built(p.GetBuild().GetBuiltAt()), p.GetVersion(), crashes(p), fmt.Sprint(p.Reloads),
			memoryUse(p), fmt.Sprintf("%.1f %%", p.CpuPercent),
			fmt.Sprint(p.OpenFiles), fmt.Sprint(p.Threads), known(p.Goroutines), strings.Join(p.Stages, ","),
			p.Detail, fmt.Sprint(p.Restarts), p.GetBinary(),
		})
	}
	withPipeds(s, &l.table)
	l.document = func() any { return document.NewPlugins(plugins) }
	return l
}

// built is when a program was built: the time of today, else the day, too.
func built(at *timestamppb.Timestamp) string {
	if !at.IsValid() {
		return ""
	}
	when, now := at.AsTime().Local(), time.Now()
	if when.Year() == now.Year() && when.YearDay() == now.YearDay() {
		return when.Format(time.TimeOnly)
	}
	return when.Format(time.DateTime)
}

// printExits prints the last exits of a plugin, each with the top of its stack below it.
func printExits(w io.Writer, p *deckv1.Plugin, output *format.Output) error {
	if len(p.GetExits()) == 0 {
		_, err := fmt.Fprintln(w, "\nno exits since piped started")
		return err
	}
	table := format.Table{Columns: []format.Column{
		{Head: "EXIT"}, {Head: "BUILD", Drop: 1}, {Head: "UP", Drop: 2}, {Head: "PLACE", Drop: 3},
		{Head: "REASON", Text: true}, {Head: "ERROR", Text: true},
	}}
	for _, e := range p.GetExits() {
		up := e.GetUptime().AsDuration().Round(10 * time.Millisecond)
		table.Rows = append(table.Rows, []string{
			built(e.GetAt()), e.GetBuild().GetHash(), up.String(), e.GetPlace(), e.GetReason(), brief(e.GetError()),
		})
	}
	fmt.Fprintln(w)
	if err := output.Table(w, table); err != nil {
		return err
	}
	last := p.GetExits()[len(p.GetExits())-1]
	if len(last.GetStack()) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nstack of the last exit:")
	for _, line := range last.GetStack() {
		fmt.Fprintln(w, "  "+text.Line(line))
	}
	return nil
}

// crashes counts those of a plugin, and apart from them the ends by faults that a user wanted, and by piped because a
// stage ignored that it was stopped.
func crashes(p *deckv1.Plugin) string {
	counts := fmt.Sprint(p.GetCrashes())
	if n := p.GetInjectedEnds(); n > 0 {
		counts += fmt.Sprintf(", %d by faults", n)
	}
	if n := p.GetAbandonedEnds(); n > 0 {
		counts += fmt.Sprintf(", %d abandoned", n)
	}
	return counts
}

// maxBrief bounds the error of an exit in its table, in characters.
const maxBrief = 120

// brief is the first line of an error, as far as a table shows it. -o json has all of it.
func brief(err string) string {
	first, _, _ := strings.Cut(err, "\n")
	return clip.Characters(first, maxBrief)
}

// known shows a number that not every plugin reports.
func known(n uint32) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// memoryUse shows the limit, too, where there is one.
func memoryUse(p *deckv1.Plugin) string {
	used := fmt.Sprintf("%.1f MiB", float64(p.GetRssBytes())/(1<<20))
	if p.GetMemoryLimitBytes() > 0 {
		used += fmt.Sprintf(" of %d MiB", p.GetMemoryLimitBytes()>>20)
	}
	return used
}
