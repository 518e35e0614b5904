// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// gatherTime is how long changes are gathered at most.
const gatherTime = 50 * time.Millisecond

// hub keeps what the environment has sent, and the events for all watchers.
type hub struct {
	options Options

	mu   sync.Mutex
	deck *state.Deck
	ring ring
	// changed is closed and replaced whenever streams have something to send.
	changed chan struct{}
	dirty   dirty
	// sent is what was sent last of what is compared before it is sent again.
	sent struct {
		connection Connection
		overall    Overall
		story      Story
	}
	connection connections
	// client is the present one; nil without a connection.
	client Deck
	// jumps counts how often the state has begun again.
	jumps int
	// last are the newest events of the kinds that are sent again with a whole state.
	last map[string]item
	// whole is the state for new watchers at the number of wholeAt.
	whole   *body
	wholeAt int
	details map[string]*detail
	runStore
	audience
	// over is closed when ending is set.
	over   chan struct{}
	ending End
}

func newHub(o Options) *hub {
	return &hub{options: o, deck: state.Keeping(Kept), changed: make(chan struct{}), dirty: newDirty(),
		connection: connections{Connection: Connection{State: Connecting}},
		last:       map[string]item{}, details: map[string]*detail{},
		runStore: newRunStore(), audience: audience{selected: map[string]int{}, counted: make(chan struct{})},
		over: make(chan struct{}), wholeAt: -1}
}

// now is the time of what is shown.
func (h *hub) now() time.Time {
	if h.options.Film != nil {
		return h.options.Film.Now()
	}
	return h.options.Clock.Now()
}

// take applies events of the environment.
func (h *hub) take(events []*deckv1.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, event := range events {
		text.CleanMessage(event)
		if event.GetReset_() != nil {
			h.connection.lost = nil
			h.forget()
			continue
		}
		if connection := event.GetConnection(); connection != nil {
			h.connection.lost = lostConnection(connection, event.GetTime().AsTime())
			continue
		}
		again := event.GetSynced() != nil && h.dirty.all
		h.dirty.mark(h.deck, event)
		h.deck.Apply(event)
		if again {
			h.restart()
		}
		if !h.dirty.all { // else what is shown is as it was
			h.narrate()
		}
	}
}

// begin says that the environment will send its whole state.
func (h *hub) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connection.lost = nil
	h.forget()
}

// forget has what follows take the place of what is known, at once if that was never complete.
func (h *hub) forget() {
	h.deck.Restart()
	if h.deck.Synced() {
		h.dirty.all = true
		return
	}
	h.restart()
}

// restart has every stream begin with the whole state.
func (h *hub) restart() {
	h.dirty = newDirty()
	h.narrate()
	h.sent.overall = h.overall()
	h.sent.connection = h.connection.shown()
	h.ring.skip()
	h.jumps++
	h.wake()
}

// publish sends what has changed.
func (h *hub) publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dirty.all { // it is not complete: what is shown is as it was
		return
	}
	change := h.change()
	if change == nil {
		return
	}
	h.add("state", change)
}

// connect says how the connection is.
func (h *hub) connect(client Deck, to string, err error) {
	h.mu.Lock()
	h.client = client
	since := h.connection.Since
	if to != h.connection.State {
		since = document.Moment(h.options.Clock.Now())
	}
	h.connection.Connection = Connection{State: to, Since: since}
	if err != nil {
		h.connection.Reason = text.Line(plain(err))
	}
	h.mu.Unlock()
	h.publish()
}

// connected reports whether watchers know that there is a connection.
func (h *hub) connected() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.connection.State == Connected
}

// narrate sends the caption of the story when it is another one.
func (h *hub) narrate() {
	if now := story(h.deck.Caption()); now != h.sent.story {
		h.sent.story = now
		h.add("story", now)
	}
}

// sticky are the kinds of events that a new stream gets besides the state.
var sticky = []string{"watchers", "playback", "story"}

// add sends an event to all.
func (h *hub) add(kind string, event any) {
	one := item{kind, newBody(event)}
	if slices.Contains(sticky, kind) {
		h.last[kind] = one
	}
	h.ring.add(one)
	h.wake()
}

func (h *hub) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// end ends all streams; the first end counts.
func (h *hub) end(as End) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.over:
	default:
		h.ending = as
		close(h.over)
	}
}

// plain is an error without the words of gRPC, which say nothing to watchers.
func plain(err error) string {
	if s, ok := status.FromError(err); ok {
		return s.Message()
	}
	return err.Error()
}

// endOf is how a page ends with its context.
func (h *hub) endOf(ctx context.Context) End {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.deck.Stopping() && h.options.Film == nil { // most recorded sessions end with their environment
		return ofEnvironment
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return End{Reason: text.Line(cause.Error())}
	}
	return End{Reason: "the command that serves this page has ended"}
}

// environmentEnded is the usual reason of an end.
const environmentEnded = "the environment has ended"

// ofEnvironment is that end.
var ofEnvironment = End{Reason: environmentEnded, Environment: true}

// news is what a stream that has sent the events before number from has to send.
type news struct {
	// whole is set when the stream has to begin again, with what goes with it in items.
	whole *body
	items []item
	// next is the number of the event to come, jumps that of the state.
	next, jumps int
	detail      *detail
	changed     <-chan struct{}
}

// news returns what there is from number from on, of a deployment where one is selected.
func (h *hub) news(from int, deployment string) news {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := news{changed: h.changed, next: h.ring.next, jumps: h.jumps}
	items, known := h.ring.since(from)
	n.items = items
	if !known {
		if h.whole == nil || h.wholeAt != h.ring.next {
			h.whole, h.wholeAt = newBody(h.everything()), h.ring.next
		}
		n.whole, n.items = h.whole, nil
		for _, kind := range sticky {
			one, found := h.last[kind]
			if found && kind == "playback" { // the position has gone on
				one.body = newBody(h.options.Film.Playback())
			}
			if found {
				n.items = append(n.items, one)
			}
		}
	}
	if deployment != "" {
		n.detail = h.detail(deployment)
	}
	return n
}

// stage returns a stage as it is now; nil when it is not known.
func (h *hub) stage(deployment, stage string) (found *deckv1.Stage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.deck.Deployment(deployment).GetStages() {
		if s.GetId() == stage {
			return s
		}
	}
	return nil
}

// reader returns the client, which is nil without a connection, and what is closed when something changes.
func (h *hub) reader() (client Deck, jumps int, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.client, h.jumps, h.changed
}

// everything is the whole state.
func (h *hub) everything() State {
	all := newDirty()
	for _, app := range h.deck.Applications() {
		all.applications[app.GetId()] = true
	}
	perApplication := max(1, min(Kept, maxSummaries/max(1, len(all.applications))))
	for id := range all.applications {
		list := h.deck.Deployments(id)
		for _, d := range list[:min(len(list), perApplication)] {
			all.deployments[d.GetId()] = true
		}
		if present := h.deck.Present(id); present != nil {
			all.deployments[present.GetId()] = true
		}
	}
	for _, p := range h.deck.Plugins() {
		all.plugins[state.PluginKey(p)] = true
	}
	for _, c := range h.deck.Components() {
		all.components[c.GetName()] = true
	}
	for _, p := range h.deck.Problems() {
		all.problems[p.GetId()] = true
	}
	all.environment, all.pipeds = true, true
	overall, connection := h.overall(), h.connection.shown()
	s := h.objects(all)
	s.Whole, s.Overall, s.Connection = true, &overall, &connection
	return s
}

// maxSummaries bounds the deployments of a whole state, save for one or two of each application.
const maxSummaries = 2000

// change is what differs from what was sent; nil for nothing.
func (h *hub) change() *State {
	overall, connection := h.overall(), h.connection.shown()
	if h.dirty.empty() && overall == h.sent.overall && connection == h.sent.connection {
		return nil
	}
	s := h.objects(h.dirty)
	s.Gone = h.dirty.goneOrNil()
	if overall != h.sent.overall {
		s.Overall = &overall
	}
	if connection != h.sent.connection {
		s.Connection = &connection
	}
	h.dirty, h.sent.overall, h.sent.connection = newDirty(), overall, connection
	return &s
}

// overall is how everything is together.
func (h *hub) overall() Overall {
	a := h.deck.Attention()
	all := Overall{State: OverallStarting, Failed: a.FailedApplications, Unhealthy: a.UnhealthyApplications,
		Waiting: a.Waiting, Deploying: state.Running(h.deck)}
	switch {
	case len(h.deck.Failed()) > 0:
		all.State = OverallFailed
	case h.deck.Stopping():
		all.State = OverallStopping
	case len(h.deck.Problems()) > 0:
		all.State = OverallDegraded
	case h.deck.Ready():
		all.State = OverallReady
	}
	return all
}

// sortedKeys are the keys of a set in order, so that the same state is always the same text.
func sortedKeys[K cmp.Ordered, V any](set map[K]V) []K { return slices.Sorted(maps.Keys(set)) }
