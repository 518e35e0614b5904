// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

func newEventsCommand(t *session.Target) *cobra.Command {
	var output format.Output
	cmd := &cobra.Command{
		Use: "events APP", Short: "Show what happened to an application", Args: cobra.ExactArgs(1),
		Long: `Show what happened to an application, the oldest first: its deployments, their stages and
approvals, and how each ended. What a stage has written is in pipedeck logs; events that registered
images or versions are in pipedeck event list.`,
		Example: "  pipedeck events hello-world\n  pipedeck events hello-world -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.Run(cmd, func(_ context.Context, s *session.Session) error {
				app, err := resolve.New(s, cmd, args).Argument(0).Application()
				if err != nil {
					return err
				}
				events := eventsOf(s.State.Deployments(app.GetId()))
				if output.Machine() {
					return output.Document(s.Out, document.NewApplicationEvents(app, texts(events)))
				}
				if note := forgotten(s.State); note != "" {
					fmt.Fprintln(s.Err, note)
				}
				return output.Table(s.Out, eventTable(events))
			})
		},
	}
	format.AddTableFlags(cmd, &output)
	return cmd
}

// event is an event with its time, by which events are sorted.
type event struct {
	at time.Time
	document.ApplicationEvent
}

func texts(events []event) []document.ApplicationEvent {
	all := make([]document.ApplicationEvent, len(events))
	for i, e := range events {
		e.Time = document.Moment(e.at)
		all[i] = e.ApplicationEvent
	}
	return all
}

// eventsOf returns the events of deployments in the order of their times.
func eventsOf(deployments []*deckv1.Deployment) []event {
	var all []event
	for _, d := range slices.Backward(deployments) {
		all = append(all, deploymentEvents(d)...)
	}
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	return all
}

func deploymentEvents(d *deckv1.Deployment) []event {
	var all []event
	add := func(at *timestamppb.Timestamp, e document.ApplicationEvent) {
		if at.IsValid() {
			e.Deployment, e.Commit = d.GetId(), d.GetCommit().GetHash()
			all = append(all, event{at.AsTime(), e})
		}
	}
	by := cmp.Or(d.GetCommander(), d.GetCommit().GetAuthor())
	add(d.GetCreatedAt(), document.ApplicationEvent{
		Type: document.DeploymentCreated, Reason: d.GetSummary(), By: by,
	})
	for _, s := range d.GetStages() {
		named := document.ApplicationEvent{Stage: s.GetId(), Name: state.StageWord(s)}
		started := named
		started.Type = document.StageStarted
		if started.Reason = ""; s.GetRetries() > 0 {
			started.Reason = fmt.Sprintf("attempt %d", s.GetRetries()+1)
		}
		add(s.GetStartedAt(), started)
		for _, a := range s.GetApprovals() {
			approved := named
			approved.Type, approved.By = document.StageApproved, a.GetUser()
			add(a.GetAt(), approved)
		}
		ended := named
		ended.Type, ended.Status, ended.Reason = document.StageEnded, document.Word(s.GetStatus()), s.GetStatusReason()
		add(s.GetCompletedAt(), ended)
	}
	add(d.GetCompletedAt(), document.ApplicationEvent{
		Type: document.DeploymentEnded, Status: document.Word(d.GetStatus()), Reason: d.GetStatusReason(),
	})
	return all
}

func eventTable(events []event) format.Table {
	table := format.Table{Columns: []format.Column{
		{Head: "TIME", Yield: 6, Least: 8, Ending: true}, {Head: "EVENT"},
		{Head: "DEPLOYMENT", ID: true, Yield: 3, Drop: 2}, {Head: "COMMIT", Drop: 3},
		{Head: "STAGE", Yield: 2, Least: 10}, {Head: "STATUS", State: true}, {Head: "BY", Drop: 4, Yield: 5, Least: 6},
		{Head: "REASON", Text: true},
	}}
	for _, e := range events {
		table.Rows = append(table.Rows, []string{e.at.Local().Format(time.DateTime), e.Type, e.Deployment,
			line.Commit(e.Commit), e.Name, e.Status, e.By, e.Reason})
	}
	return table
}
