// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// breakFlags say what happens to breakpoints.
type breakFlags struct {
	before, after, failure, clear, list bool
	output                              format.Output
}

func newBreakCommand(t *session.Target) *cobra.Command {
	f := &breakFlags{}
	cmd := &cobra.Command{
		Use: "break [APP] [STAGE]", Short: "Pause deployments at a stage, or list where",
		Args: cobra.MaximumNArgs(2),
		Long: "Set a breakpoint on a stage, given by its id or type, or * for every stage. A single argument is a " +
			"stage of\nall applications, or APP/STAGE. A deployment that comes there is paused until you go on with " +
			"pipedeck\ncontinue, and no clock of it runs meanwhile. Without arguments, and with --list, the " +
			"breakpoints and\nthe paused stages are listed.\n\n" +
			"Breakpoints last as long as the environment; a restart of piped changes nothing.",
		Example: "  pipedeck break shop deploy\n  pipedeck break WAIT --after\n  pipedeck break --on-failure\n" +
			"  pipedeck break --list\n  pipedeck break shop deploy --clear\n  pipedeck break --clear",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(ctx context.Context, s *session.Session) error { return f.run(ctx, s, cmd, args) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.before, "before", false, "pause before the stage (default)")
	flags.BoolVar(&f.after, "after", false, "pause after the stage, unless it fails")
	flags.BoolVar(&f.failure, "on-failure", false, "pause when the stage fails; without a stage, when any does")
	flags.BoolVar(&f.clear, "clear", false, "remove breakpoints in place of setting them; without a stage, all")
	flags.BoolVar(&f.list, "list", false, "list the breakpoints and the paused stages")
	cmd.MarkFlagsMutuallyExclusive("list", "clear")
	format.AddFlag(cmd, &f.output)
	cmd.AddCommand(newBreakShowCommand(t))
	return cmd
}

func (f *breakFlags) run(ctx context.Context, s *session.Session, cmd *cobra.Command, args []string) error {
	kinds := f.before || f.after || f.failure
	list := s.State.Environment().GetBreakpoints()
	if f.list || len(args) == 0 && !f.clear && !f.failure {
		if len(args) > 0 || kinds && f.list || kinds && !f.failure {
			return exit.Usage(errors.New("a stage to pause at is missing"),
				"give its id or its type, or * for every stage")
		}
		return f.print(s, list, "")
	}
	args, err := stageOfApplication(args)
	if err != nil {
		return err
	}
	text := "set: "
	request := &deckv1.ChangeBreakpointsRequest{ClearAll: f.clear && len(args) == 0 && !kinds}
	given, err := f.given(resolve.NewChange(s, cmd, args), kinds)
	if err != nil {
		return err
	}
	switch {
	case request.GetClearAll():
	case f.clear:
		request.Clear, text = given, "cleared: "
	default:
		request.Set = given
	}
	answer, err := s.Deck.ChangeBreakpoints(ctx, request)
	if err != nil {
		return session.Unreachable(err)
	}
	if request.GetClearAll() {
		return f.print(s, answer.GetBreakpoints(), "cleared all breakpoints")
	}
	if !f.clear {
		warnOfUnmatched(s, given)
	}
	var texts []string
	for _, b := range given {
		texts = append(texts, state.BreakText(b))
	}
	return f.print(s, answer.GetBreakpoints(), text+strings.Join(texts, ", "))
}

// stageOfApplication returns a single argument APP/STAGE as two.
func stageOfApplication(args []string) ([]string, error) {
	if len(args) != 1 || !strings.Contains(args[0], "/") {
		return args, nil
	}
	slash := strings.LastIndexByte(args[0], '/')
	application, stage := args[0][:slash], args[0][slash+1:]
	if application == "" || stage == "" {
		return nil, exit.Usage(fmt.Errorf("%q is not APP/STAGE", args[0]),
			"name an application and the id or type of a stage, such as pipedeck break shop/WAIT")
	}
	return []string{application, stage}, nil
}

// given are the breakpoints that the arguments name. Clearing without a kind means all three.
func (f *breakFlags) given(l *resolve.Line, kinds bool) (list []*deckv1.Breakpoint, err error) {
	stage, application := state.EveryStage, ""
	switch args := l.Args(); len(args) {
	case 0:
	case 1:
		stage = args[0]
	default:
		found, err := l.Argument(0).Application()
		if err != nil {
			return nil, err
		}
		application, stage = found.GetName(), args[1]
	}
	for _, one := range []struct {
		wanted bool
		when   deckv1.Breakpoint_When
	}{
		{f.before || !kinds, deckv1.Breakpoint_WHEN_BEFORE},
		{f.after || f.clear && !kinds, deckv1.Breakpoint_WHEN_AFTER},
		{f.failure || f.clear && !kinds, deckv1.Breakpoint_WHEN_FAILURE},
	} {
		if one.wanted {
			list = append(list, &deckv1.Breakpoint{When: one.when, Application: application, Stage: stage})
		}
	}
	return list, nil
}

// print prints what was done, or the breakpoints and the paused stages.
func (f *breakFlags) print(s *session.Session, list []*deckv1.Breakpoint, done string) error {
	doc := document.Breakpoints{
		Head: document.NewHead(), Breakpoints: []document.Breakpoint{}, Paused: []document.PausedStage{},
	}
	var lines []string
	for _, b := range list {
		doc.Breakpoints = append(doc.Breakpoints, document.NewBreakpoint(b))
		lines = append(lines, "breakpoint "+state.BreakText(b))
	}
	for _, d := range s.State.AllDeployments() {
		for _, stage := range d.GetStages() {
			if state.Paused(stage) {
				doc.Paused = append(doc.Paused, document.NewPausedStage(d, stage, stageVariables(s, d, stage)))
				lines = append(lines, fmt.Sprintf("%s is %s", d.GetApplicationName(), state.PauseText(stage)))
			}
		}
	}
	if f.output.Machine() {
		return f.output.Document(s.Out, doc)
	}
	if done != "" {
		lines = []string{done}
	}
	if len(lines) == 0 {
		lines = []string{"no breakpoint is set; set one with: pipedeck break STAGE" + s.Flags}
	}
	_, err := io.WriteString(s.Out, strings.Join(lines, "\n")+"\n")
	return err
}

func newBreakShowCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "show [APP|DEPLOYMENT] [STAGE]", Short: "Show what a paused stage gets",
		Args: cobra.MaximumNArgs(2),
		Long: "Show a stage that is paused at a breakpoint: its options, deploy targets, directories, and the " +
			"variables\nthat pipedeck shell sets. Secrets are masked.",
		Example: "  pipedeck break show\n  pipedeck break show shop deploy -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(_ context.Context, s *session.Session) error {
				w, err := continuing().find(resolve.New(s, cmd, args))
				if err != nil {
					return err
				}
				shown := document.NewPausedStage(w.deployment, w.stage, stageVariables(s, w.deployment, w.stage))
				if output.Machine() {
					return output.Document(s.Out, document.Breakpoints{
						Head: document.NewHead(), Breakpoints: []document.Breakpoint{},
						Paused: []document.PausedStage{shown},
					})
				}
				_, err = io.WriteString(s.Out, pauseText(w.stage, shown))
				return err
			})
		},
	}
	format.AddFlag(cmd, &output)
	return cmd
}

// pauseText is a paused stage in lines for people.
func pauseText(stage *deckv1.Stage, p document.PausedStage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s\n", p.App, state.PauseText(stage))
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-15s %s\n", name, value)
		}
	}
	row("type", p.Name)
	row("deployment", p.Deployment)
	row("commit", p.Commit)
	row("running commit", p.RunningCommit)
	row("attempt", fmt.Sprint(p.Attempt))
	row("since", p.Since)
	row("result", p.Result)
	row("reason", p.Reason)
	row("deploy targets", strings.Join(p.DeployTargets, ", "))
	row("directory", p.Directory)
	row("running source", p.RunningDirectory)
	row("with", string(p.With))
	for _, variable := range sortedVariables(p.Environment) {
		row("env", variable)
	}
	return b.String()
}
