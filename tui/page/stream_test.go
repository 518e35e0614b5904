// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/page"
)

func synced(s page.State) bool { return s.Synced }

func TestAWatcherGetsTheWholeStateAndThenChanges(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"", "gzip"} {
		t.Run("encoding "+encoding, func(t *testing.T) {
			t.Parallel()
			s := serve(t, decktest.Shop()...)
			tab := s.watchAs(s.browser(), nil, encoding)
			var hello page.Hello
			tab.next("hello").into(t, &hello)
			require.Equal(t, "demo", hello.Environment)
			require.Equal(t, page.Protocol, hello.Protocol)

			apps := map[string]page.Application{}
			_, _ = until(tab, "state", func(state page.State) bool {
				for _, app := range state.Applications {
					apps[app.ID] = app
				}
				return len(apps) == 6 && state.Synced
			})
			require.Equal(t, "DEPLOYING", apps["checkout"].Sync)
			require.Equal(t, "dep-c", apps["checkout"].Present)

			changed := decktest.Synced()
			changed.Id, changed.Name = "mail", "mail"
			changed.Health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
			s.deck.Publish(changed, &deckv1.Removed{ApplicationId: "website"})
			state, _ := until(tab, "state", func(state page.State) bool { return state.Gone != nil })
			require.False(t, state.Whole)
			require.Equal(t, []string{"website"}, state.Gone.Applications)
			require.Equal(t, "UNHEALTHY", state.Applications[0].Health)
			require.Equal(t, 1, state.Overall.Unhealthy)
		})
	}
}

func TestAStreamGoesOnAfterItsLastEvent(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	browser := s.browser()
	first := s.watch(browser, nil)
	_, last := until(first, "state", synced)
	first.close()

	s.deck.Publish(&deckv1.Removed{ApplicationId: "website"})
	again := s.watch(browser, url.Values{"cursor": {last.id}})
	state, _ := until(again, "state", func(page.State) bool { return true })
	require.False(t, state.Whole)
	for state.Gone == nil {
		state, _ = until(again, "state", func(page.State) bool { return true })
	}
	require.Equal(t, []string{"website"}, state.Gone.Applications)

	for _, unknown := range []string{"other.3", "", "x", last.id + "9999999", last.id + ".x.y",
		strings.Repeat("9", 99)} {
		tab := s.watch(browser, url.Values{"cursor": {unknown}})
		state, _ := until(tab, "state", func(page.State) bool { return true })
		require.True(t, state.Whole, unknown)
		tab.close()
	}
}

func TestTheSelectedDeploymentComesWithItsGraph(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	tab := s.watch(s.browser(), url.Values{"deployment": {"dep-c"}})
	d, _ := until(tab, "deployment", func(d page.Detail) bool { return d.Deployment != nil })
	require.Len(t, d.Stages, 10)
	require.Len(t, d.Graph.Nodes, 8, "the rollback has not begun")
	require.Equal(t, &page.Rollback{Y: d.Graph.Height - 1, To: "3f2a1c9b0a7d",
		Stages: []string{"undo-eu", "undo-us"}}, d.Graph.Rollback)
	places := map[string]page.Node{}
	for _, n := range d.Graph.Nodes {
		places[n.ID] = n
	}
	for _, e := range d.Graph.Edges {
		from, to := places[e.From], places[e.To]
		start, end := e.Lines[0], e.Lines[len(e.Lines)-1]
		require.Equal(t, [2]int{from.X + from.Width - 1, from.Y + 1}, [2]int{start[0], start[1]}, e.From)
		require.Equal(t, [2]int{to.X, to.Y + 1}, [2]int{end[2], end[3]}, e.To)
	}
	require.Equal(t, "running", d.Stages[5].Look)
	require.True(t, d.Stages[5].Ticks)

	s.deck.Publish(decktest.CheckoutFailed())
	d, _ = until(tab, "deployment", func(d page.Detail) bool { return d.Deployment.Status == "ROLLING_BACK" })
	require.True(t, d.Graph.Rollback.Began)
	require.Len(t, d.Graph.Nodes, 10)
	require.Equal(t, "failed", d.Stages[6].Look)

	none := s.watch(s.browser(), url.Values{"deployment": {"no-such"}})
	d, _ = until(none, "deployment", func(page.Detail) bool { return true })
	require.True(t, d.Missing)
}

func TestADeploymentInTheQueueWaitsNoMoreWhenTheOneAheadEnds(t *testing.T) {
	t.Parallel()
	queued := decktest.Checkout()
	queued.Id, queued.CreatedAt = "queued", decktest.At(0)
	queued.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING
	s := serve(t, append(decktest.Shop(), queued)...)
	tab := s.watch(s.browser(), url.Values{"deployment": {"queued"}})
	list := s.watch(s.browser(), nil)
	isQueued := func(d page.Summary) bool { return d.ID == "queued" }
	waitsFor := func(id string) func(page.State) bool {
		return func(state page.State) bool {
			at := slices.IndexFunc(state.Deployments, isQueued)
			return at >= 0 && state.Deployments[at].WaitsFor == id
		}
	}
	_, _ = until(list, "state", waitsFor("dep-c"))
	_, _ = until(tab, "deployment", func(d page.Detail) bool {
		return d.Deployment != nil && d.Deployment.WaitsFor == "dep-c"
	})
	ended := decktest.Checkout()
	ended.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	s.deck.Publish(ended)
	_, _ = until(list, "state", waitsFor(""))
	_, _ = until(tab, "deployment", func(d page.Detail) bool { return d.Deployment.WaitsFor == "" })
}

func TestAThousandApplicationsComeInOneState(t *testing.T) {
	t.Parallel()
	var all []proto.Message
	for i := range 1000 {
		app := decktest.Synced()
		app.Id, app.Name = fmt.Sprintf("app-%d", i), fmt.Sprintf("app-%d", i)
		all = append(all, app)
		for n := range 4 {
			d := decktest.Checkout()
			d.Stages = nil
			d.Id, d.ApplicationId, d.CreatedAt = fmt.Sprintf("d-%d-%d", i, n), app.Id, decktest.At(float64(n))
			all = append(all, d)
		}
	}
	s := serve(t, all...)
	browser := s.browser()
	_, _ = until(s.watch(browser, nil), "state", synced)
	tab := s.watchAs(browser, nil, "gzip")
	state, _ := until(tab, "state", func(page.State) bool { return true })
	require.True(t, state.Whole)
	require.Len(t, state.Applications, 1000)
	require.Len(t, state.Deployments, 2000, "the newest two of each")
}

func TestTheEndOfThePageIsItsLastEvent(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	tab := s.watchAs(s.browser(), nil, "gzip")
	_, _ = until(tab, "state", synced)
	s.end(errors.New("pipedeck attach has ended"))
	var end page.End
	tab.next("end").into(t, &end)
	require.Equal(t, "pipedeck attach has ended", end.Reason)
	_, open := <-tab.events
	require.False(t, open)
}

func TestAWatcherLearnsThatTheEnvironmentHasEnded(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	tab := s.watch(s.browser(), nil)
	_, _ = until(tab, "state", synced)
	stopped := decktest.Component(1, "piped", "")
	stopped.State = deckv1.Component_STATE_STOPPED
	s.deck.Publish(stopped)
	_, _ = until(tab, "state", func(state page.State) bool {
		return state.Overall != nil && state.Overall.State == page.OverallStopping
	})
	s.end(nil) // as a command does that sees the end
	var end page.End
	tab.next("end").into(t, &end)
	require.Equal(t, "the environment has ended", end.Reason)
}

func TestALostConnectionIsShownAndFoundAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	tab := s.watch(s.browser(), nil)
	is := func(word string) func(page.State) bool {
		return func(state page.State) bool { return state.Connection != nil && state.Connection.State == word }
	}
	_, _ = until(tab, "state", is(page.Connected))
	s.deck.Break()
	lost, _ := until(tab, "state", is(page.Disconnected))
	require.Equal(t, "connection lost", lost.Connection.Reason)
	found, _ := until(tab, "state", is(page.Connected))
	for !found.Whole {
		found, _ = until(tab, "state", func(page.State) bool { return true })
	}
	require.Len(t, found.Applications, 6)
}

func TestTheConnectionOfARecordedSessionIsThatOfItsRecording(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	browser := s.browser()
	tab := s.watch(browser, nil)
	is := func(word string) func(page.State) bool {
		return func(state page.State) bool { return state.Connection != nil && state.Connection.State == word }
	}
	_, _ = until(tab, "state", is(page.Connected))
	s.deck.Publish(&deckv1.Connection{Lost: "the process was \x1b[31mkilled", Stopped: true})
	lost, _ := until(tab, "state", is(page.Disconnected))
	require.Equal(t, "the process was killed", lost.Connection.Reason)
	require.NotEmpty(t, lost.Connection.Since)
	late := s.watch(browser, nil)
	_, _ = until(late, "state", is(page.Disconnected))
	s.deck.Publish(decktest.Environment())
	s.deck.Publish(&deckv1.Connection{})
	_, _ = until(tab, "state", is(page.Connected))
	s.deck.Publish(&deckv1.Connection{Lost: "killed"})
	_, _ = until(tab, "state", is(page.Disconnected))
	s.deck.Publish(&deckv1.Reset{}, decktest.Environment(), &deckv1.Synced{})
	_, _ = until(tab, "state", is(page.Connected)) // the session was moved to where it was not lost
}

func TestCaptionsOfAStoryReachEveryWatcher(t *testing.T) {
	t.Parallel()
	s := serve(t)
	browser := s.browser()
	first := s.watch(browser, nil)
	s.deck.Publish(&deckv1.Caption{Text: "A \x1b[31mbad image", Step: 2, Steps: 5, Awaits: "hello-world SUCCESS",
		Focus: &deckv1.CaptionFocus{Step: 1, Pane: "log", Application: "hello-world"}})
	said := page.Story{Caption: document.Caption{Text: "A bad image", Step: 2, Steps: 5, Awaits: "hello-world SUCCESS"},
		Application: "hello-world"}
	story, _ := until(first, "story", func(page.Story) bool { return true })
	require.Equal(t, said, story)
	late := s.watch(browser, nil)
	story, _ = until(late, "story", func(page.Story) bool { return true })
	require.Equal(t, said, story)
	s.deck.Publish(&deckv1.Reset{}, decktest.Environment(), &deckv1.Synced{})
	story, _ = until(late, "story", func(page.Story) bool { return true })
	require.Equal(t, page.Story{}, story, "a recorded session has gone back to before the story")
}
