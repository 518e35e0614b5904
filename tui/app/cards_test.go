// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// deployed is an environment in which these deployments were the newest in turn.
func deployed(deployments ...*deckv1.Deployment) []proto.Message {
	objects := decktest.Running()
	objects = append(objects[:len(objects)-2:len(objects)-2], decktest.Synced())
	for _, d := range deployments {
		objects = append(objects, d)
	}
	return objects
}

// carded is a screen with the card that follows these deployments.
func carded(t *testing.T, width, height int, deployments ...*deckv1.Deployment) *model {
	t.Helper()
	m := still(t, "EDITOR=/bin/true")
	m.host.cfg.Manifests = oneFile{}
	m.size(width, height)
	m.see(deployed(deployments...)...)
	return m
}

const hides = "esc hides this card"

func TestTheCardsAreShownOnceInAnEnvironment(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(deployed(decktest.First())...)
	file := filepath.Join(t.TempDir(), "cards.txt")
	start := func() *terminal {
		return session{client: dial(t, server), width: 100, height: 30, cards: file}.start(t, t.Context())
	}
	remembered := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			content, err := os.ReadFile(file)
			return err == nil && string(content) == want
		}, patience, 10*time.Millisecond)
	}
	s := start()
	s.seesText("hello-world runs", "deployed in 1.9s", "Next: deploy a change", "Nothing answers", hides)
	remembered("first\n")
	s.types("\x1b")
	s.losesText(hides)
	s.types("C")
	s.seesText("hello-world runs", hides)
	s.types("s") // a key that acts does so below a card
	s.seesText("Deploy the newest commit of hello-world?")
	s.types("\x1b")
	s.losesText("Deploy the newest commit of hello-world?")
	s.seesText(hides)

	server.Publish(decktest.Application(), decktest.Named())
	s.losesText(hides)
	server.Publish(decktest.Synced(), decktest.Succeeded())
	s.seesText("hello-world is live", "5 stages in 38s, 8.0s of it waiting for approval", hides)
	remembered("first\nsuccess\n")
	s.types("\x1b")
	s.losesText(hides)

	again := start()
	again.seesText("SUCCESS", "clean")
	again.sees("no card", func(screen string) bool { return !strings.Contains(screen, hides) })
	again.types(":the card\r")
	again.seesText("hello-world is live", hides)
	require.Empty(t, server.Calls)
}

func TestACardSaysHowTheApplicationIsReachedAndEdited(t *testing.T) {
	t.Parallel()
	m := carded(t, 100, 30, decktest.First())
	real := decktest.Environment()
	real.Simulated, real.Clusters[0].Simulated = false, false
	m.receive(real)
	card := ansi.Strip(m.View().Content)
	require.Contains(t, card, "o  opens it")
	require.Contains(t, card, "E  edit a manifest")
	m.Update(actionMsg{app: "app-1", address: "http://127.0.0.1:41390"})
	m.host.cfg.Environ = nil
	card = ansi.Strip(m.View().Content)
	require.Contains(t, card, "o  http://127.0.0.1:41390")
	require.NotContains(t, card, "E  edit", "the key does nothing without an editor")
	require.Contains(t, card, "Change hello-world/deployment.yaml and commit it")
}

func TestOnlyTheSampleIsToBeBroken(t *testing.T) {
	t.Parallel()
	m := carded(t, 100, 30, decktest.Succeeded())
	require.Contains(t, m.View().Content, "break it")
	own := decktest.Environment()
	own.EditHint = ""
	m.receive(own)
	require.NotContains(t, m.View().Content, "break it")
	require.Contains(t, ansi.Strip(m.View().Content), "E  edit a manifest and commit it")
}

func TestNoCardHidesAProblem(t *testing.T) {
	t.Parallel()
	sick := decktest.Synced()
	sick.Health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
	wrong := decktest.Synced()
	wrong.Sync = deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
	broken := decktest.Component(2, "Kubernetes", "it does not answer")
	broken.State = deckv1.Component_STATE_FAILED
	for reason, object := range map[string]proto.Message{
		"degraded": decktest.Problems()[0], "is not healthy": sick, "is not valid": wrong, "; e shows why": broken,
		"did not succeed": decktest.NamedFailed(), "is being deployed": decktest.Named(),
	} {
		m := carded(t, 100, 30, decktest.First())
		require.Contains(t, m.View().Content, hides)
		m.receive(object)
		require.NotContains(t, m.View().Content, hides, reason)
		m.key("C")
		require.NotContains(t, m.View().Content, hides, reason)
		require.Contains(t, m.toast.text, reason)

		m = still(t)
		m.size(100, 30)
		m.see(append(deployed(decktest.First()), object)...)
		require.NotContains(t, m.View().Content, hides, reason)
	}
	m := carded(t, 100, 30, decktest.First())
	m.Update(disconnectedMsg{err: errors.New("connection refused")})
	require.NotContains(t, m.View().Content, hides)

	second, failure := decktest.Synced(), decktest.NamedFailed()
	second.Id, second.Name = "app-2", "other"
	failure.ApplicationId, failure.ApplicationName, failure.RunningCommit = "app-2", "other", ""
	m = still(t)
	m.size(100, 30)
	m.see(append(deployed(decktest.First()), second, failure)...)
	require.Equal(t, "app-1", m.chosen.app)
	require.NotContains(t, m.View().Content, hides, "another first deployment has failed")
}

func TestACardStandsOnlyNextToItsDeployment(t *testing.T) {
	t.Parallel()
	for away, back := range map[string]string{"3": "2", "4": "2", "e": "2", "d": "2", "t": "2", "i": "2", "z": "z",
		"/": "esc"} {
		m := carded(t, 100, 30, decktest.First())
		m.key(away)
		require.NotContains(t, m.View().Content, hides, away)
		m.key(back)
		require.Contains(t, m.View().Content, hides, away)
	}
	m := carded(t, 20, 6, decktest.First())
	require.False(t, m.cards.visible())
	require.Empty(t, m.cards.seen, "it waits for a screen with room")
	m.size(60, 20)
	require.Contains(t, m.View().Content, hides)
	require.True(t, m.cards.seen[firstCard])
}

func TestTheFirstCardIsAboutTheApplicationWorthEditing(t *testing.T) {
	t.Parallel()
	early, first := decktest.Synced(), decktest.First()
	early.Id, early.Name, early.Path = "app-0", "a-first-name", "elsewhere"
	first.Id, first.ApplicationId = "dep-x", "app-0"
	m := still(t)
	m.size(100, 30)
	m.see(append(deployed(decktest.First()), early, first)...)
	require.Equal(t, "app-1", m.chosen.app)
	require.Contains(t, m.View().Content, "hello-world runs")

	m = still(t)
	m.size(100, 30)
	m.chosen.appPinned = true
	m.see(deployed()...)
	m.receive(early)
	m.chosen.pinApplication("app-0")
	m.receive(decktest.First(), first)
	require.Equal(t, "app-0", m.chosen.app, "what the user chose stays")
	require.Contains(t, m.View().Content, "a-first-name runs")
}

func TestApprovalsSideBySideAreWaitedForOnce(t *testing.T) {
	t.Parallel()
	m := carded(t, 100, 30, decktest.Succeeded())
	d := decktest.Succeeded()
	require.Equal(t, 8*time.Second, m.cards.waited(d), "from second 12 to 20")
	also := proto.CloneOf(d.Stages[2])
	also.Id, also.Name, also.StartedAt, also.CompletedAt = "s7", "GATE", decktest.At(15), decktest.At(25)
	d.Stages = append(d.Stages, also)
	require.Equal(t, 8*time.Second, m.cards.waited(d), "no one has seen that it waits")
	m.cards.asked[[2]string{d.GetId(), "s7"}] = true
	require.Equal(t, 13*time.Second, m.cards.waited(d))
}

func TestTheReasonWithoutACardIsInThePalette(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	require.Equal(t, "hello-world is being deployed", m.actions.reasons()[keymap.ShowCard])
	card, known := m.input.keys.Find(keymap.Applications, "C")
	require.True(t, known)
	m.run(card)
	require.Contains(t, m.toast.text, "cannot show the card: ")
}

func TestACardCoversNothingAndGivesWayToAReader(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{60, 20}, {72, 20}, {80, 24}, {100, 30}, {130, 30}, {160, 45}, {300, 100}} {
		m := carded(t, size[0], size[1], decktest.Succeeded())
		m.hear(logbuf.Info, "the last line of the log")
		screen := m.exact(t, "card", size[0], size[1])
		require.Contains(t, screen, hides, "%v", size)
		require.Contains(t, screen, "SUCCESS", "%v", size)
		if size[1] >= 30 {
			require.Contains(t, screen, "the last line of the log", "%v", size)
		}
		for _, line := range strings.Split(screen, "\n") {
			require.NotRegexp(t, "[╭│╰].*(esc hides|break it)", line, "no frame stands over a pane")
		}
		m.key("2", "up") // reads another stage
		require.NotContains(t, m.View().Content, hides, "%v", size)
		m.key("f")
		require.Contains(t, m.View().Content, hides, "%v", size)
	}
}

func TestACardWaitsForAReader(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	m.host.cfg.Manifests = oneFile{}
	m.key("3", "up") // pins the log
	m.key("2")
	m.receive(decktest.Synced(), decktest.Succeeded())
	require.NotContains(t, m.View().Content, hides)
	require.Empty(t, m.cards.seen)
	m.key("f")
	require.Contains(t, m.View().Content, hides)
}

func TestTheTimeOfTheApprovalsIsThatOfTheControlPlane(t *testing.T) {
	t.Parallel()
	m := carded(t, 100, 30, decktest.Succeeded())
	d := decktest.Succeeded()
	gate := d.Stages[1]
	gate.Approvals = []*deckv1.StageApproval{{User: "ada", At: decktest.At(4)}, {User: "grace", At: decktest.At(6)}}
	took := decktest.At(6).AsTime().Sub(gate.GetStartedAt().AsTime())
	require.Equal(t, 8*time.Second+took, m.cards.waited(d), "no one saw here that the stage waited")
}
