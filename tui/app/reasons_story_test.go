// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// situation is a state of an environment, and why keys do nothing in it.
type situation struct {
	objects []proto.Message
	// sees is on the screen when it is there; then keys are typed first.
	sees, keys string
	// reasons are what each key says.
	reasons map[string]string
	session session
}

// without are objects with an application in another state instead of that of the example, and without its deployment.
func without(change func(*deckv1.Application)) []proto.Message {
	app := decktest.Application()
	app.Deploying, app.LatestDeploymentId = false, ""
	change(app)
	objects := decktest.Running()
	return append(objects[:len(objects)-2], app)
}

// succeededIn are objects whose newest deployment has succeeded.
func succeededIn(change func(*deckv1.Application), more ...proto.Message) []proto.Message {
	app := decktest.Synced()
	change(app)
	return slices.Concat(decktest.Running(), []proto.Message{app, decktest.Succeeded()}, more)
}

func situations() map[string]situation {
	same := func(*deckv1.Application) {}
	running := "a deployment of hello-world still runs; cancel it first"
	foreign := &deckv1.Piped{Id: "piped-1", Name: "theirs", Version: "v0.55.0"}
	return map[string]situation{
		"no application": {objects: decktest.Running()[:10], sees: "2 Deployment", reasons: map[string]string{
			"a": "no stage is selected", "S": "no stage is selected", "c": "there is no deployment",
			"s": "no application is selected", "o": "no application is selected", "R": "no application is selected",
			"B": "no application is selected", "E": "no application is selected", "C": "there is no application yet"}},
		"no deployment": {objects: without(same), sees: "2 Deployment · hello-world", reasons: map[string]string{
			"a": "no stage is selected", "S": "no stage is selected", "c": "there is no deployment",
			"R": "hello-world was never deployed", "B": "hello-world was never deployed",
			"C": "hello-world has no deployment yet"}},
		"a deployment that runs": {objects: decktest.Running(), sees: "press a to approve", reasons: map[string]string{
			"R": running, "B": running, "r": "select a plugin first: 4", "u": "it is running",
			"E": "its repository is not on this machine", "C": "hello-world is being deployed",
			"o": "the cluster is simulated, no container runs; use --cluster kind"}},
		"a stage that does not wait": {objects: decktest.Running(), sees: "press a to approve", keys: "2k",
			reasons: map[string]string{"a": "select WAIT_APPROVAL first", "S": "WAIT cannot be skipped now"}},
		"a disabled application that has failed": {objects: ended(), sees: "FAILURE", reasons: map[string]string{
			"s": "hello-world is disabled", "R": "hello-world is disabled", "B": "hello-world is disabled",
			"c": "the deployment has ended", "C": "the newest deployment of hello-world did not succeed",
			"S": "cannot be skipped now", "a": "does not wait for approval"}},
		"a deployment that has succeeded": {objects: succeededIn(func(a *deckv1.Application) { a.PipedId = "piped-1" },
			&deckv1.Piped{Id: "piped-1", Name: "p1", Own: true, DeploysCommits: true}), sees: "SUCCESS",
			reasons: map[string]string{"R": "nothing failed: the newest deployment of hello-world has succeeded",
				"B": "no earlier deployment of hello-world with another commit has succeeded"}},
		"a piped of another maker": {objects: append(past(1), foreign), sees: "FAILURE", reasons: map[string]string{
			"R": "piped theirs cannot deploy an earlier commit", "B": "piped theirs cannot deploy an earlier commit"}},
		"an earlier deployment": {objects: past(1), sees: "FAILURE", keys: "dG\r", reasons: map[string]string{
			"R": "the screen shows an earlier deployment; go to the newest with f"}},
		"no plugin": {objects: append(decktest.Running()[:6:6], decktest.Application(), decktest.Canary()),
			sees: "press a to approve", keys: "4", reasons: map[string]string{"r": "no plugin has been started yet"}},
		"no editor": {objects: decktest.Running(), sees: "press a to approve",
			session: session{manifests: oneFile{}}, reasons: map[string]string{
				"E": "no editor is set; set EDITOR and start the UI again"}},
		"big mode": {objects: decktest.Running(), sees: "press a to approve", keys: "Z", reasons: map[string]string{
			"z": "big mode has one form; Z leaves it", "v": "big mode has one form; Z leaves it",
			"F": "big mode has one form; Z leaves it"}},
		"problems": {objects: succeededIn(same, decktest.Problems()[0]), sees: "SUCCESS", reasons: map[string]string{
			"C": "the environment is degraded; e shows why"}},
		"a configuration with a mistake": {objects: succeededIn(func(a *deckv1.Application) {
			a.Sync = deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
		}), sees: "2 Deployment", reasons: map[string]string{"C": "the configuration of hello-world is not valid"}},
		"an application that is not healthy": {objects: succeededIn(func(a *deckv1.Application) {
			a.Health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
		}), sees: "SUCCESS", reasons: map[string]string{"C": "hello-world is not healthy; t shows why"}},
		"approvers": {objects: append(decktest.Running(), func() *deckv1.Deployment {
			d := decktest.Canary()
			d.Stages[2].CanApprove = false
			return d
		}()), sees: "RUNNING", keys: "2", reasons: map[string]string{"a": "WAIT_APPROVAL does not wait for approval"}},
	}
}

func TestAKeyThatIsOffSaysTheWholeReason(t *testing.T) {
	t.Parallel()
	for name, c := range situations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(c.objects...)
			o := c.session
			o.client, o.width, o.height = dial(t, server), 200, 40
			s := o.start(t, t.Context())
			s.seesText(c.sees)
			s.types(c.keys)
			for key, reason := range c.reasons {
				s.types(key)
				s.seesText("cannot ", ": ", reason)
			}
			require.Empty(t, server.Calls, "the deck API was asked for nothing")
		})
	}
}

func TestNoActionIsSentWithoutAConnection(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(real()...)
	client := server.Dial(t)
	attempts := make(chan error, 2)
	attempts <- nil
	s := play(t, func(ctx context.Context) (deckv1.DeckServiceClient, error) {
		select {
		case err := <-attempts:
			return client, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, 200, 40, seams{})
	s.seesText("press a to approve")
	s.types("2gj") // a stage of the user's choice
	s.seesText("3 Log · WAIT: ")
	attempts <- errors.New("no process listens")
	server.Break()
	s.seesText("not answering, reconnecting")
	for _, key := range []string{"a", "S", "s", "c", "4r", "2R", "B", "o", "E"} {
		s.types(key) // the line that says why stays
		require.Contains(t, s.settled(), "The environment is not answering, reconnecting")
	}
	require.Empty(t, server.Calls)
	attempts <- nil
	s.losesText("reconnecting")
	s.seesText("3 Log · WAIT: ") // still selected
	require.Empty(t, server.Calls)
	s.types("2fa")
	require.True(t, proto.Equal(approval("ada"), call(t, server)), "the first call")
}

// letters are those of what is said, without blanks and ends of lines.
func letters(said string) string { return strings.Join(strings.Fields(ansi.Strip(said)), "") }

// requireSaid fails when the screen does not show the whole text, on however many lines.
func requireSaid(t *testing.T, m *model, said string, about ...any) {
	t.Helper()
	require.Contains(t, letters(m.View().Content), letters(said), about...)
}

func TestAReasonIsWholeOnANarrowScreen(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {60, 20}, {40, 12}} {
		for name, c := range situations() {
			m := still(t)
			m.host.cfg.Manifests = c.session.manifests
			m.size(size[0], size[1])
			m.see(c.objects...)
			for _, key := range c.keys {
				m.key(strings.ReplaceAll(string(key), "\r", "enter"))
			}
			for key := range c.reasons {
				m.key(key)
				require.True(t, m.toast.bad, "%s: %s", name, key)
				requireSaid(t, m, m.toast.text, "%s: %s", name, key)
			}
		}
		for action, r := range rows() {
			m := still(t)
			m.size(size[0], size[1])
			m.see(ended()...)
			m.key(strings.Split(r.off, "")...)
			reason := m.actions.reasons()[action]
			for _, b := range keymap.Default() {
				if b.Action == action && (reason != "" || r.off != "") {
					m.run(b)
					requireSaid(t, m, m.toast.text, action)
				}
			}
		}
	}
}

func TestAReasonAndTheStateOfTheConnectionAreBothSaid(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}, {40, 8}} {
		m := waiting(t, size[0], size[1])
		m.Update(disconnectedMsg{err: fmt.Errorf("its process was killed: %w", ErrEnvironmentStopped)})
		m.key("a")
		requireSaid(t, m, "cannot approve the selected stage: not connected", size)
		requireSaid(t, m, "Press u to start it again, q to leave.", size)
	}
}
