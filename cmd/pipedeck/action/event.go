// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// eventWait is how long register waits for an event watcher: less than a command waits for any answer.
const eventWait = 8 * time.Second

func newEventCommand(t *session.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use: "event", Short: "Register events for event watchers, and list them",
		Example: "  pipedeck event register image --data registry.example.com/shop:v2 --label env=dev\n" +
			"  pipedeck event list",
	}
	cmd.AddCommand(newEventRegisterCommand(t), newEventListCommand(t))
	return cmd
}

func newEventRegisterCommand(t *session.Target) *cobra.Command {
	request := &deckv1.RegisterEventRequest{}
	var labels, contexts []string
	var output format.Output
	cmd := &cobra.Command{
		Use: "register NAME", Short: "Register an event for event watchers", Args: cobra.ExactArgs(1),
		Long: "Register an event, for which event watchers write its value into files of their repositories and\n" +
			"push a commit. The command waits up to 8 s for the result.\n\n" +
			"Exit code 0: the commit is pushed, or the value was there already; 1: an event watcher could not\n" +
			"write it, or none matches the event; 4: no piped has reported a result yet. An event without a\n" +
			"result is kept for an hour, and applied once an event watcher matches it.",
		Example: "  pipedeck event register image --data registry.example.com/shop:v2\n" +
			"  pipedeck event register image --data v2 --label env=dev --label team=shop",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request.Name = args[0]
		var err error
		if request.Labels, err = pairs("label", labels); err != nil {
			return err
		}
		if request.Contexts, err = pairs("context", contexts); err != nil {
			return err
		}
		if request.GetName() == "" || request.GetData() == "" {
			return exit.Usage(errors.New("an event needs a name and a value"),
				"give both: pipedeck event register NAME --data VALUE")
		}
		return withEvents(cmd, t, func(ctx context.Context, events deckv1.EventServiceClient) error {
			w, err := t.Workspace()
			if err != nil {
				return err
			}
			known := watchersOf(w)
			if known.match(request) || known.more {
				request.Wait = durationpb.New(eventWait)
			}
			answer, err := events.RegisterEvent(ctx, request)
			if err != nil {
				return refusedEvent(err)
			}
			if err := printEvent(cmd.OutOrStdout(), answer.GetEvent(), &output); err != nil {
				return err
			}
			return eventResult(answer.GetEvent(), known, request)
		})
	}
	cmd.Flags().StringVar(&request.Data, "data", "", "the value that event watchers write (required)")
	cmd.Flags().StringArrayVar(&labels, "label", nil,
		"label of the event, as `KEY=VALUE`; repeatable. An event watcher names all labels of its events")
	cmd.Flags().StringArrayVar(&contexts, "context", nil,
		"trailer of the commit, as `KEY=VALUE`; repeatable. Keys are letters, digits and dashes")
	cmd.Flags().StringVar(&request.CommitHash, "commit", "", "the hash of the commit that caused the event")
	format.AddFlag(cmd, &output)
	return cmd
}

func newEventListCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "list [NAME]", Short: "List registered events, the newest first", Args: cobra.MaximumNArgs(1),
		Example: "  pipedeck event list\n  pipedeck event list image -o json",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return withEvents(cmd, t, func(ctx context.Context, events deckv1.EventServiceClient) error {
			answer, err := events.ListEvents(ctx, &deckv1.ListEventsRequest{Name: strings.Join(args, "")})
			if err != nil {
				return refusedEvent(err)
			}
			return printEvents(cmd.OutOrStdout(), answer.GetEvents(), &output)
		})
	}
	format.AddListFlags(cmd, &output)
	return cmd
}

// withEvents connects to the events of the running environment.
func withEvents(cmd *cobra.Command, t *session.Target,
	steps func(context.Context, deckv1.EventServiceClient) error) error {
	_, conn, err := t.Connect(cmd.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), session.CallTimeout)
	defer cancel()
	return exit.Explain(cmd.Context(), steps(ctx, deckv1.NewEventServiceClient(conn)))
}

func refusedEvent(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch s.Code() {
	case codes.Unimplemented:
		return exit.With(exit.NotStarted, errors.New("the environment is of an older pipedeck, which has no events"),
			"end it with pipedeck down, and start it again")
	case codes.Unavailable, codes.DeadlineExceeded:
		return exit.With(exit.NotStarted, errors.New("the environment does not answer"), "see pipedeck status")
	case codes.InvalidArgument:
		return exit.Usage(errors.New(s.Message()), "see pipedeck event register --help")
	}
	return session.Refusal(err)
}

// pairs reads KEY=VALUE flags.
func pairs(flag string, given []string) (map[string]string, error) {
	read := map[string]string{}
	for _, one := range given {
		key, value, ok := strings.Cut(one, "=")
		if !ok || key == "" || value == "" {
			return nil, exit.Usage(fmt.Errorf("--%s %q is not KEY=VALUE", flag, one),
				"give a key and a value, for example --"+flag+" env=dev")
		}
		if other, twice := read[key]; twice && other != value {
			return nil, exit.Usage(fmt.Errorf("--%s %s has two values, %q and %q", flag, key, other, value),
				"give it once")
		}
		read[key] = value
	}
	return read, nil
}

// eventResult is the error of an event that was not brought into Git.
func eventResult(e *deckv1.RegisteredEvent, known watchers, r *deckv1.RegisterEventRequest) error {
	name := workspace.EventMatcher{Name: r.GetName(), Labels: r.GetLabels()}.String()
	again := "fix the cause, then register the event again"
	switch e.GetStatus() {
	case deckv1.EventStatus_EVENT_STATUS_SUCCESS:
		return nil
	case deckv1.EventStatus_EVENT_STATUS_FAILURE:
		return exit.With(exit.Failed, fmt.Errorf("event %s was not brought into Git: %s", name,
			cmp.Or(e.GetDescription(), "piped gives no reason")), again)
	case deckv1.EventStatus_EVENT_STATUS_OUTDATED:
		return exit.With(exit.Failed, fmt.Errorf("event %s is outdated: %s", name,
			cmp.Or(e.GetDescription(), "a newer one took its place")), "see pipedeck event list")
	}
	if !known.match(r) && !known.more {
		return exit.With(exit.Failed, fmt.Errorf("no event watcher matches the event %s at the watched commits", name),
			known.advice())
	}
	return exit.With(exit.TimedOut, fmt.Errorf("no piped has reported a result for the event %s within %s", name,
		eventWait), "see it later: pipedeck event list "+text.ShellWord(r.GetName())+
		"; what piped does: pipedeck status")
}

func printEvent(w io.Writer, e *deckv1.RegisteredEvent, output *format.Output) error {
	if output.Machine() {
		return output.Document(w, document.EventRegistration{
			Head: document.NewHead(), RegisteredEvent: document.NewRegisteredEvent(e),
		})
	}
	line := fmt.Sprintf("registered event %s: %s %s", e.GetName(), e.GetId(), document.EventWord(e.GetStatus()))
	if e.GetDescription() != "" && e.GetStatus() == deckv1.EventStatus_EVENT_STATUS_SUCCESS {
		line += ": " + e.GetDescription()
	}
	_, err := fmt.Fprintln(w, text.Line(line))
	return err
}

func printEvents(w io.Writer, events []*deckv1.RegisteredEvent, output *format.Output) error {
	var names []string
	var rows [][]string
	for _, e := range events {
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(e.GetLabels())) {
			labels = append(labels, key+"="+e.GetLabels()[key])
		}
		names = append(names, e.GetName())
		rows = append(rows, []string{e.GetCreatedAt().AsTime().Local().Format("15:04:05"), e.GetName(),
			strings.Join(labels, ","), e.GetData(), document.EventWord(e.GetStatus()), e.GetDescription()})
	}
	return output.List(w, func() any { return document.NewRegisteredEvents(events) }, names, format.Table{
		Columns: []format.Column{
			{Head: "REGISTERED", Drop: 2}, {Head: "NAME", Yield: 1, Least: 12},
			{Head: "LABELS", Yield: 3, Least: 8, Drop: 3}, {Head: "DATA", Yield: 4, Least: 8, Drop: 4},
			{Head: "STATUS", State: true}, {Head: "DESCRIPTION", Text: true},
		}, Rows: rows,
	})
}
