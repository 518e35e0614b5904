// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clip"
)

// key is the same for events and matchers that belong together: the name and all labels.
type key string

func keyOf(name string, labels map[string]string) key {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", name)
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "/%q:%q", label, labels[label])
	}
	return key(b.String())
}

type event struct{ *model.Event }

func (e event) at() time.Time { return time.Unix(e.GetCreatedAt(), 0) }

// events are those of one key, the newest first.
type events struct {
	key key
	all []event
}

func (g *events) newest() event { return g.all[0] }

// group sorts events by key. Among events of the same second the order of the list counts, which is newest
// first.
func group(list []*model.Event) []*events {
	byKey := map[key]*events{}
	var groups []*events
	for _, e := range list {
		k := keyOf(e.GetName(), e.GetLabels())
		if byKey[k] == nil {
			byKey[k] = &events{key: k}
			groups = append(groups, byKey[k])
		}
		byKey[k].all = append(byKey[k].all, event{e})
	}
	for _, g := range groups {
		slices.SortStableFunc(g.all, func(a, b event) int { return cmp.Compare(b.GetCreatedAt(), a.GetCreatedAt()) })
	}
	return groups
}

// handle applies the newest event of a group and reports all.
func (w *Watcher) handle(ctx context.Context, g *events, rules []*rule) error {
	newest := g.newest()
	successor := newest.GetId()
	latest, err := w.options.ControlPlane.GetLatestEvent(
		ctx, &pipedservice.GetLatestEventRequest{Name: newest.GetName(), Labels: newest.GetLabels()},
	)
	if err != nil && status.Code(err) != codes.NotFound {
		return fmt.Errorf("ask for the latest event %s: %w", newest.GetName(), err)
	}
	all := g.all[1:]
	if e := latest.GetEvent(); e.GetCreatedAt() > newest.GetCreatedAt() { // handled before, or came in just now
		successor, all = e.GetId(), g.all
	}
	var outcomes []*pipedservice.ReportEventStatusesRequest_Event
	for _, e := range all {
		outcomes = append(
			outcomes,
			outcome(e, model.EventStatus_EVENT_OUTDATED, fmt.Sprintf("The newer event %s has replaced it", successor)),
		)
	}
	if len(all) < len(g.all) {
		one, err := w.settle(ctx, newest, rules)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, one)
	}
	if _, err := w.options.ControlPlane.ReportEventStatuses(
		ctx, &pipedservice.ReportEventStatusesRequest{Events: outcomes},
	); err != nil {
		return fmt.Errorf("report what became of the event %s: %w", newest.GetName(), err)
	}
	for _, o := range outcomes {
		w.options.Handled(o.GetStatus())
		w.logger.Info(
			"event handled", "event", newest.GetName(), "id", o.GetId(), "status", o.GetStatus(), "description",
			o.GetStatusDescription(),
		)
	}
	return nil
}

// settle applies one event. It returns an error only when ctx has ended.
func (w *Watcher) settle(
	ctx context.Context, e event, rules []*rule,
) (*pipedservice.ReportEventStatusesRequest_Event, error) {
	if w.options.Clock.Now().Sub(e.at()) > outdated {
		return outcome(e, model.EventStatus_EVENT_OUTDATED, fmt.Sprintf("It came more than %s ago", outdated)), nil
	}
	if len(e.GetData()) > maxValue {
		return outcome(
			e, model.EventStatus_EVENT_FAILURE, fmt.Sprintf("Its value is longer than %d KiB", maxValue>>10),
		), nil
	}
	done, failed := w.apply(ctx, e, rules)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(failed) > 0 {
		return outcome(e, model.EventStatus_EVENT_FAILURE, strings.Join(append(failed, done...), "\n")), nil
	}
	return outcome(e, model.EventStatus_EVENT_SUCCESS, strings.Join(done, "\n")), nil
}

// maxDescription bounds what is reported of one event, in bytes.
const maxDescription = 4 << 10

func outcome(e event, status model.EventStatus, description string) *pipedservice.ReportEventStatusesRequest_Event {
	if len(description) > maxDescription {
		description = clip.Bytes(description, maxDescription) + "…"
	}
	return &pipedservice.ReportEventStatusesRequest_Event{Id: e.GetId(), Status: status, StatusDescription: description}
}
