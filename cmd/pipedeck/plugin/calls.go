// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

// callsFlags say which calls are listed, and how.
type callsFlags struct {
	stage, deployment, as, file string
	failed, follow, all         bool
	output                      format.Output
}

func newCallsCommand(t *session.Target) *cobra.Command {
	flags := &callsFlags{}
	cmd := &cobra.Command{
		Use: "calls [PLUGIN|ID]", Short: "List the calls between piped and its plugins",
		Args: cobra.MaximumNArgs(1),
		Long: `List the last calls between piped and its plugins in the running environment, in both directions, the
oldest first. With the id of one, show its messages. Secrets are masked; of messages above 64 KiB only
the beginning is kept. piped keeps at most 1,500 calls of deployments for each plugin, and 16 MiB in all.

--as prints one call for use elsewhere: as a grpcurl command, as a Go test, or as a recording of the
stage that it belongs to, which pipedeck plugin replay plays. The file of a Go test ends in _test.go,
as go test wants it; the end is added to a name without one.`,
		Example: `  pipedeck plugin calls
  pipedeck plugin calls wait --stage WAIT --failed
  pipedeck plugin calls 3f2a-118
  pipedeck plugin calls 3f2a-118 --as grpcurl
  pipedeck plugin calls --stage WAIT --as recording --file wait.jsonl
  pipedeck plugin calls --stage WAIT --as gotest --file wait_test.go`,
		RunE: func(cmd *cobra.Command, args []string) error { return flags.run(cmd, t, args) },
	}
	own := cmd.Flags()
	resolve.GivenVar(own, &flags.stage, "stage", "only calls of the stage `NAME`")
	resolve.GivenVar(own, &flags.deployment, "deployment",
		"only calls of the deployment `ID`, or of the newest of an application")
	own.BoolVar(&flags.failed, "failed", false, "only calls that failed, and stages that did")
	own.BoolVar(&flags.all, "checks", false, "also the checks whether plugins work, of which there is one every 5 s")
	own.BoolVarP(&flags.follow, "follow", "f", false,
		"go on until the stage has ended, or for a plugin and its calls until Ctrl-C") // as in pipedeck logs
	own.StringVar(&flags.as, "as", "", "print one call as `FORM`: grpcurl, gotest or recording")
	own.StringVar(&flags.file, "file", "", "where --as writes to, for gotest a name that ends in _test.go; "+
		"a file that is there is replaced (default: print it)")
	format.AddTableFlags(cmd, &flags.output)
	return cmd
}

func (f *callsFlags) run(cmd *cobra.Command, t *session.Target, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	steps := func(ctx context.Context, s *session.Session) error {
		filter, err := f.filter(s, cmd, args)
		if err != nil {
			return err
		}
		switch {
		case f.as != "":
			return f.export(ctx, t, s, filter)
		case f.follow:
			return f.print(ctx, s, filter)
		case filter.GetId() != "":
			return f.show(ctx, s, filter)
		}
		return f.list(ctx, s, filter)
	}
	if f.follow {
		return t.RunLong(cmd, steps)
	}
	return t.Run(cmd, steps)
}

func (f *callsFlags) check() error {
	switch {
	case f.as != "" && !slices.Contains(forms, f.as):
		return exit.Usage(fmt.Errorf("--as %q is unknown", f.as), "use --as "+strings.Join(forms, ", --as "))
	case f.as != "" && (f.follow || f.output.Machine()):
		return exit.Usage(errors.New("--as prints one call"), "leave out --follow and --output")
	case f.as == "" && f.file != "":
		return exit.Usage(errors.New("--file is the file of --as"), "give --as recording, or leave --file out")
	case f.as != "" && f.as != asGRPCurl && f.file == "":
		return exit.Usage(fmt.Errorf("--as %s needs a file", f.as), "name it with --file")
	}
	return nil
}

// callID is the form of the id of a call.
var callID = regexp.MustCompile(`^[0-9a-f]{4}-[0-9]+$`)

// filter says which calls are wanted.
func (f *callsFlags) filter(s *session.Session, cmd *cobra.Command, args []string) (*deckv1.PluginCallFilter, error) {
	filter := &deckv1.PluginCallFilter{Failed: f.failed, Checks: f.all}
	line := resolve.New(s, cmd, args)
	switch {
	case len(args) == 0:
	case callID.MatchString(args[0]):
		filter.Id = args[0]
	default:
		plugin, err := line.Argument(0).Plugin("")
		if err != nil {
			return nil, err
		}
		filter.Plugin = plugin.GetName()
	}
	var of *deckv1.Deployment
	if f.deployment != "" {
		target, err := line.Flag("deployment", f.deployment).Target()
		if err != nil {
			return nil, err
		}
		if of = target.Deployment; of == nil {
			all := s.State.Deployments(target.Application.GetId())
			if len(all) == 0 {
				return nil, exit.Usage(fmt.Errorf("application %q has no deployment", target.Application.GetName()),
					"see pipedeck deployments")
			}
			of = all[0]
		}
		filter.DeploymentId = of.GetId()
	}
	if f.stage != "" {
		var err error
		filter.Stage, err = stageFilter(s, line.Flag("stage", f.stage), of)
		return filter, err
	}
	return filter, nil
}

// stageFilter is the id of the stage of a deployment, or with nil the type or id of a stage of any one.
func stageFilter(s *session.Session, word resolve.Word, of *deckv1.Deployment) (string, error) {
	if of != nil {
		stages, err := word.Stages(of)
		switch {
		case err != nil:
			return "", err
		case len(stages) == 1:
			return stages[0].GetId(), nil
		}
		return stages[0].GetName(), nil
	}
	never := ""                                  // of the newest deployment that ended before the stage began
	for _, d := range s.State.AllDeployments() { // the newest first
		for _, stage := range d.GetStages() {
			switch {
			case strings.EqualFold(word.Text, stage.GetName()):
				return stage.GetName(), nil
			case !slices.Contains(resolve.StageNames(stage), word.Text):
			case stage.GetStartedAt() == nil && d.GetCompletedAt() != nil:
				never = cmp.Or(never, stage.GetId())
			default:
				return stage.GetId(), nil
			}
		}
	}
	if never != "" {
		return never, nil
	}
	return "", exit.Usage(fmt.Errorf("no deployment has a stage %q", word.Text), "see pipedeck deployments")
}

// read returns the calls in the order in which they began.
func read(ctx context.Context, s *session.Session, request *deckv1.ListPluginCallsRequest) (
	[]*deckv1.PluginCall, error) {
	stream, err := s.PluginCalls.ListPluginCalls(ctx, request)
	if err != nil {
		return nil, err
	}
	newest := map[string]*deckv1.PluginCall{} // a call that ends meanwhile comes again
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, call := range part.GetCalls() {
			newest[call.GetId()] = call
		}
	}
	calls := make([]*deckv1.PluginCall, 0, len(newest))
	for _, call := range newest {
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b *deckv1.PluginCall) int {
		if of := strings.Compare(a.GetPipedId(), b.GetPipedId()); of != 0 {
			return of
		}
		return number(a) - number(b)
	})
	return calls, nil
}

// number is the place of a call among those of its piped.
func number(c *deckv1.PluginCall) int {
	_, digits, _ := strings.Cut(c.GetId(), "-")
	n, _ := strconv.Atoi(digits)
	return n
}

func (f *callsFlags) list(ctx context.Context, s *session.Session, filter *deckv1.PluginCallFilter) error {
	calls, err := read(ctx, s, &deckv1.ListPluginCallsRequest{Filter: filter})
	if err != nil {
		return err
	}
	if f.output.Machine() {
		return f.output.Document(s.Out, callsDocument(calls))
	}
	if len(calls) == 0 {
		fmt.Fprintln(s.Err, "pipedeck: piped remembers no such call; it forgets them when it is restarted")
	}
	return f.output.Table(s.Out, callTable(s.State, calls))
}

func callsDocument(calls []*deckv1.PluginCall) document.PluginCalls {
	list := document.PluginCalls{Head: document.NewHead(), Calls: []document.PluginCall{}}
	for _, call := range calls {
		list.Calls = append(list.Calls, document.NewPluginCall(call))
	}
	return list
}

// one reads the call that an id names.
func one(ctx context.Context, s *session.Session, id string) (*deckv1.PluginCall, error) {
	calls, err := read(ctx, s, &deckv1.ListPluginCallsRequest{Filter: &deckv1.PluginCallFilter{Id: id}, Messages: true})
	switch {
	case err != nil:
		return nil, err
	case len(calls) == 0:
		return nil, exit.Usage(fmt.Errorf("piped does not remember a call %s", id),
			"list those that it remembers with: pipedeck plugin calls"+s.Flags)
	}
	return calls[0], nil
}

func (f *callsFlags) show(ctx context.Context, s *session.Session, filter *deckv1.PluginCallFilter) error {
	call, err := one(ctx, s, filter.GetId())
	if err != nil {
		return err
	}
	if f.output.Machine() {
		return f.output.Document(s.Out, callsDocument([]*deckv1.PluginCall{call}))
	}
	_, err = io.WriteString(s.Out, callText(s.State, call))
	return err
}

// print follows the calls.
func (f *callsFlags) print(ctx context.Context, s *session.Session, filter *deckv1.PluginCallFilter) error {
	stream, err := s.PluginCalls.ListPluginCalls(ctx, &deckv1.ListPluginCallsRequest{Filter: filter, Follow: true,
		Messages: f.output.Machine()})
	if err != nil {
		return err
	}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return exit.With(exit.NotStarted, errors.New("piped has ended, and with it what it remembered"),
				"see what it does with: pipedeck status"+s.Flags)
		}
		if err != nil {
			return err
		}
		for _, call := range part.GetCalls() {
			if call.GetDuration() == nil {
				continue // it comes again when it has ended
			}
			if f.output.Machine() {
				err = format.Line(s.Out, document.NewPluginCallLine(call))
			} else {
				_, err = io.WriteString(s.Out, callLine(s.State, call))
			}
			if err != nil {
				return err
			}
		}
	}
}
