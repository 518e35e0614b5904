// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// requestTimeout bounds one request. PipeCD v1: 5s.
	requestTimeout = 5 * time.Second
	// flushTimeout is the time to send what is queued when piped stops.
	flushTimeout = 5 * time.Second
)

// Options of a Notifier.
type Options struct {
	Notifications config.Notifications
	// WebAddress returns the address that links lead to; empty leaves links out.
	WebAddress func() string
	// SlackAPI is the base URL of Slack's Web API. Default: Slack's own.
	SlackAPI string
	Logger   *slog.Logger
	// Clock is for the pauses between tries. Default: the system's.
	Clock clock.Timer
}

// Notifier passes events on to receivers.
type Notifier struct {
	routes    []route
	receivers []*receiver
	transport *http.Transport
	clock     clock.Timer
}

// New reads the secrets that the receivers need, except for signatures, which are read for each request.
func New(o Options) (*Notifier, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.WebAddress == nil {
		o.WebAddress = func() string { return "" }
	}
	if o.SlackAPI == "" {
		o.SlackAPI = slackAPI
	}
	n := &Notifier{clock: o.Clock, transport: http.DefaultTransport.(*http.Transport).Clone()}
	client := &http.Client{Transport: n.transport, Timeout: requestTimeout, CheckRedirect: stay}
	byName := map[string]*receiver{}
	for _, c := range o.Notifications.Receivers {
		sender, err := newSender(c, client, o)
		if err != nil {
			return nil, fmt.Errorf("notification receiver %q: %w", c.Name, err)
		}
		r := newReceiver(c.Name, sender, o)
		byName[c.Name] = r
		n.receivers = append(n.receivers, r)
	}
	for _, c := range o.Notifications.Routes {
		r, err := newRoute(c, byName[c.Receiver])
		if err != nil {
			return nil, fmt.Errorf("notification route %q: %w", c.Name, err)
		}
		n.routes = append(n.routes, r)
	}
	return n, nil
}

func newSender(c config.NotificationReceiver, client *http.Client, o Options) (sender, error) {
	render, err := newTemplate(c.Template)
	switch {
	case err != nil:
		return nil, err
	case c.Slack != nil && c.Webhook != nil:
		return nil, fmt.Errorf("has both slack and webhook; make two receivers")
	case c.Slack != nil:
		return newSlack(*c.Slack, client, o, render)
	case c.Webhook != nil:
		return newWebhook(*c.Webhook, client, o, render)
	}
	return nil, fmt.Errorf("has neither slack nor webhook; give one of them")
}

// stay refuses redirections: headers with secrets would follow them to anywhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Notify queues the event for the receivers of all routes that match, once for each.
func (n *Notifier) Notify(e observe.Event) {
	var notified []*receiver
	for _, r := range n.routes {
		if r.matches(&e) && !slices.Contains(notified, r.to) {
			notified = append(notified, r.to)
			r.to.put(e)
		}
	}
}

// Run sends until ctx ends, and then what is queued by that time, for at most five seconds.
func (n *Notifier) Run(ctx context.Context) error {
	defer n.transport.CloseIdleConnections()
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var senders sync.WaitGroup
	for _, r := range n.receivers {
		senders.Go(func() { r.run(work, ctx.Done()) })
	}
	flushed := make(chan struct{})
	go func() { defer close(flushed); senders.Wait() }()
	<-ctx.Done()
	select {
	case <-flushed:
	case <-n.clock.After(flushTimeout):
		end()
		<-flushed
	}
	return nil
}

// Stats counts the notifications of one receiver since piped started.
type Stats struct {
	Receiver string
	// Queued wait now. Sent were taken by the receiver, Failed were not, Dropped found the queue full.
	Queued, Sent, Failed, Dropped int64
	// Failure is why the last notification was not taken; nil when it was, or there was none.
	Failure error
}

// Stats returns the counts of all receivers, in the order of the configuration.
func (n *Notifier) Stats() []Stats {
	list := make([]Stats, len(n.receivers))
	for i, r := range n.receivers {
		list[i] = Stats{
			Receiver: r.name, Queued: int64(len(r.queue)), Sent: r.sent.Load(), Failed: r.failed.Load(),
			Dropped: r.dropped.Load(),
		}
		if failure := r.failure.Load(); failure != nil {
			list[i].Failure = *failure
		}
	}
	return list
}
