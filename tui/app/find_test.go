// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// shop is an environment with several applications besides the one that is being deployed.
func shop() []proto.Message {
	objects := decktest.Running()
	for _, name := range []string{"payments-us", "payments-eu", "search", "catalog", "payments-usage"} {
		app := decktest.Application()
		app.Id, app.Name, app.Deploying, app.LatestDeploymentId = name, name, false, ""
		app.Sync = deckv1.SyncStatus_SYNC_STATUS_SYNCED
		app.Labels = map[string]string{"team": "web"}
		if strings.HasPrefix(name, "pay") {
			app.Labels["team"] = "pay"
		}
		objects = append(objects, app)
	}
	return objects
}

func TestTheListOfApplicationsIsFilteredByWhatIsTyped(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(shop()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve", "payments-eu", "catalog")
	s.types("1/pay us")
	s.seesText("/pay us", "2 of 6", "payments-us", "payments-usage", "You are typing: letters filter", "enter keep")
	s.losesText("catalog")
	s.seesText("2 Deployment · payments-us") // the first match is selected
	s.types("\x1b[B")
	s.seesText("2 Deployment · payments-usage")
	s.types("\r")
	s.losesText("You are typing")
	s.seesText("/pay us")
	s.types("k") // a key again
	s.seesText("2 Deployment · payments-us ")
	s.types("\x1b")
	s.losesText("/pay us")
	s.seesText("catalog", "2 Deployment · payments-us ")
	s.types("/zzz")
	s.seesText(`No match for "zzz" in`, "0 of 6")
	s.types("\x1b")
	s.losesText("No match")
	s.seesText("2 Deployment · payments-us ")
	s.types("/team=web")
	s.seesText("2 of 6", "search", "catalog")
	s.types("\x15pay") // ctrl+u
	s.seesText("3 of 6")
	require.Empty(t, server.Calls)
}

func TestEveryOtherListIsFilteredByWhatIsTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pane, query, finds, loses string }{
		"plugins":     {"4", "script", "1 of 4", "━ kubernetes ━"},
		"environment": {"e", "kube", "1 of 5", "Preflight"},
		"history":     {"d", "welsh", "1 of 2", "Try the next image"},
		"resources":   {"t", "config", "1 found", "ReplicaSet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			older := decktest.Failed()
			older.Id, older.CreatedAt, older.CompletedAt = "dep-0", decktest.At(-4000), decktest.At(-3960)
			older.Commit.Message = "Try the next image"
			server.Publish(older)
			server.Resources("app-1", &deckv1.WatchResourcesResponse{Resources: decktest.Resources(), Complete: true})
			s := play(t, dial(t, server), 120, 40, seams{})
			s.seesText("press a to approve")
			s.types(c.pane)
			s.seesText(c.loses)
			s.types("/" + c.query)
			s.seesText("/"+c.query, c.finds)
			s.losesText(c.loses)
			s.types("q?:")
			s.seesText("/"+c.query+"q?:", "No match for")
			s.types("\x1b")
			s.seesText(c.loses)
			s.types("/" + c.query + "\r")
			s.losesText("You are typing")
			s.types("\x1b") // back one step: the filter
			s.seesText(c.loses)
			require.Empty(t, server.Calls)
		})
	}
}

func TestAStageIsFoundInTheGraph(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve", "3 Log · WAIT_APPROVAL")
	s.types("2/primary")
	s.seesText("/primary", "3 Log · K8S_PRIMARY_ROLL", "1 hit")
	s.types("\x1b")
	s.seesText("3 Log · WAIT_APPROVAL")
	s.types("/canary\r")
	s.seesText("3 Log · K8S_CANARY_ROLL")
	s.types("n")
	s.seesText("3 Log · WAIT: ")
	s.types("n")
	s.seesText("3 Log · K8S_CANARY_CLEAN")
	s.types("NN")
	s.seesText("3 Log · K8S_CANARY_ROLL")
	s.types("\x1b")
	s.losesText("/canary")
	s.types("n") // without a search: what waits for a person
	s.seesText("3 Log · WAIT_APPROVAL")
	s.types("n")
	s.seesText("no other stage has failed or waits for approval")
	require.Empty(t, server.Calls)
}

func TestPastedTextNeverActs(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("\x1b[200~sy\nSy\naqy\x1b[201~")
	s.seesText("pasted text does nothing here")
	s.types("3/")
	s.seesText("You are typing")
	s.types("\x1b[200~two\nlines\x1b[201~")
	s.seesText("/two")
	s.types("\x1b")
	s.losesText("/two")
	s.types("s\x1b[200~y\x1b[201~") // in a dialog
	s.seesText("Deploy the newest commit of", "pasted text does nothing here")
	require.Empty(t, server.Calls)
}

func TestAKeyWithoutEffectSaysSo(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("x")
	s.seesText("x does nothing here · ? lists the keys")
	s.types("\x1b[18~")
	s.seesText("f7 does nothing here")
	s.types("?")
	s.seesText("Keys · graph first")
	s.types("x")
	s.seesText("x does nothing here", "Keys · graph first")
	require.Empty(t, server.Calls)
}

func TestAnErrorStaysUntilAKeyIsPressed(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key("up", "a")
	require.Contains(t, ansi.Strip(m.View().Content), "cannot approve the selected stage")
	m.Update(toastMsg{m.toast.number})
	require.Empty(t, m.toast.text)
	m.key("a")
	require.NotEmpty(t, m.toast.text)
	m.key("down")
	require.Empty(t, m.toast.text)
}

func TestALongLineThatIsTypedKeepsItsEndInSight(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key("1", "/")
	for _, letter := range strings.Repeat("long", 20) + "end" {
		m.key(string(letter))
	}
	for _, line := range strings.Split(m.View().Content, "\n") {
		require.Equal(t, 80, ansi.StringWidth(line))
	}
	require.Contains(t, ansi.Strip(m.View().Content), "longend")
	for range 300 {
		m.key("x")
	}
	require.Len(t, m.typing().query, maxTyped)
}

func TestTheGraphKeepsItsShapeWhileTextIsTyped(t *testing.T) {
	t.Parallel()
	m := waiting(t, 110, 34)
	before := strings.Split(ansi.Strip(m.View().Content), "\n")
	m.key("/")
	after := strings.Split(ansi.Strip(m.View().Content), "\n")
	for i := 1; i < 20; i++ {
		if strings.Contains(before[i], "3 Log") {
			require.Contains(t, after[i], " /", "the line stands below the graph")
			return
		}
		require.Equal(t, before[i], after[i])
	}
	t.Fatal("there is no log")
}

func TestAKeptFilterOfThePluginsHidesNoneElsewhere(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	m.key("4", "/", "s", "c", "r", "i", "p", "t", "enter")
	require.NotContains(t, strings.Split(ansi.Strip(m.View().Content), "\n")[4], "waitapproval")
	m.key("2")
	require.Contains(t, ansi.Strip(m.View().Content), "✓ waitapproval")
}

func TestTheCurrentHitIsMarkedWithoutColour(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30, "NO_COLOR=1")
	m.key("3", "/", "a", "p", "p", "r", "o", "v", "enter")
	m.Update(m.panes.log.startSearch()())
	require.Contains(t, ansi.Strip(m.View().Content), m.host.theme.Mark+"12:00:12", "the first of two hits")
	require.NotContains(t, ansi.Strip(m.View().Content), m.host.theme.Mark+"12:00:13")
	m.key("n")
	require.Contains(t, ansi.Strip(m.View().Content), m.host.theme.Mark+"12:00:13")
	require.NotContains(t, ansi.Strip(m.View().Content), m.host.theme.Mark+"12:00:12")
}

func TestALogIsSearchedToItsEndWhileTheTimeOnTheScreenStandsStill(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	m.hear(logbuf.Info, "first greeting")
	m.panes.log.look.query = "greeting"
	m.Update(m.panes.log.startSearch()())
	m.hear(logbuf.Info, "second greeting") // the search of it waits
	require.Len(t, m.panes.log.seek.hits.Lines, 1)

	cmd := m.panes.log.take(extendMsg{m.panes.log.reader})
	require.NotNil(t, m.panes.log.seek.run, "the pause is over; a recorded session that is paused has the same time")
	m.Update(cmd())
	require.Len(t, m.panes.log.seek.hits.Lines, 2)
}
