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
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// row is what is expected of one action.
type row struct {
	// keys start it; sees is on the screen then, or the deck API gets call.
	keys, sees string
	call       proto.Message
	// off keys lead to where it does nothing, for a reason; empty for an action that always works.
	off, reason string
}

// ended is an environment whose deployment has failed, with a disabled application.
func ended() []proto.Message {
	objects := []proto.Message{decktest.Environment(), decktest.Failed()}
	app := decktest.Application()
	app.Disabled, app.Deploying = true, false
	for _, c := range decktest.Components() {
		objects = append(objects, c)
	}
	return append(objects, app)
}

func rows() map[keymap.Action]row {
	return map[keymap.Action]row{
		keymap.Approve: {keys: "a", call: &deckv1.ApproveStageRequest{}, reason: "does not wait for approval"},
		keymap.Skip:    {keys: "Sy", call: &deckv1.SkipStageRequest{}, reason: "cannot be skipped now"},
		keymap.Cancel:  {keys: "cy", call: &deckv1.CancelDeploymentRequest{}, reason: "the deployment has ended"},
		keymap.Sync:    {keys: "sy", call: &deckv1.SyncApplicationRequest{}, reason: "hello-world is disabled"},
		// Off while the deployment of the example runs; TestAFailedDeploymentIsRetried and
		// TestAnApplicationIsRolledBackToADeploymentFromAList show them at work.
		keymap.Retry:    {reason: "hello-world is disabled"},
		keymap.Rollback: {reason: "hello-world is disabled"},
		keymap.Restart:  {keys: "4ry", call: &deckv1.RestartPluginRequest{}, reason: "select a plugin first: 4"},
		keymap.Reach: {keys: "o", call: &deckv1.OpenApplicationRequest{},
			reason: "the cluster is simulated, no container runs"},
		// TestAManifestIsEditedAndCommittedWhenTheUserSaysSo shows it at work.
		keymap.EditManifest: {reason: "its repository is not on this machine"},
		// TestTheCardsAreShownOnceInAnEnvironment shows it at work.
		keymap.ShowCard:         {reason: "the newest deployment of hello-world did not succeed"},
		keymap.StartAgain:       {reason: "it is running"}, // TestAKilledEnvironmentIsStartedAgain shows it at work
		keymap.ShowApplications: {keys: "1", sees: "1 Applications"},
		keymap.ShowDeployment:   {keys: "2", sees: "2 Deployment"},
		keymap.ShowLog:          {keys: "3", sees: "3 Log"},
		keymap.ShowPlugins:      {keys: "4", sees: "last output"},
		keymap.ShowEnvironment:  {keys: "e", sees: "Preflight"},
		keymap.ShowHistory:      {keys: "d", sees: "Deployments of hello-world"},
		keymap.ShowResources:    {keys: "t", sees: "Resources"},
		keymap.ShowInsights:     {keys: "I", sees: "of an older pipedeck, which measures nothing"},
		keymap.ShowPreview:      {keys: "P", sees: "watches no repository on this machine"},
		// TestWhatIsDriftedIsComparedAndPutBack shows it at work.
		keymap.PutBack:       {off: "t", reason: "hello-world is disabled"},
		keymap.FirstError:    {keys: "3!", sees: "no error in this log so far", off: "1", reason: "it works in: "},
		keymap.Level:         {keys: "3L", sees: "3 Log", off: "1", reason: "it works in: "},
		keymap.Times:         {keys: "3T", sees: "times: ", off: "1", reason: "it works in: "},
		keymap.Save:          {keys: "3W", sees: "3 Log", off: "1", reason: "it works in: "},
		keymap.Merge:         {keys: "3m", sees: "all stages", off: "1", reason: "it works in: "},
		keymap.PluginOutput:  {keys: "3p", sees: "WAIT_APPROVAL + ", off: "1", reason: "it works in: "},
		keymap.SelectLines:   {keys: "3v", sees: "there is no line to select", off: "1", reason: "it works in: "},
		keymap.OnlyHits:      {keys: "3&", sees: "nothing to filter by", off: "1", reason: "it works in: "},
		keymap.Inspect:       {keys: "2iy", sees: "copied the id of the stage"},
		keymap.NextPane:      {keys: "2\t/", sees: "letters search"},
		keymap.PreviousPane:  {keys: "2\x1b[Z/", sees: "letters filter"},
		keymap.Help:          {keys: "?", sees: "graph first"},
		keymap.Search:        {keys: "/", sees: "You are typing"},
		keymap.Zoom:          {keys: "4zy", sees: "copied"},
		keymap.Big:           {keys: "2Z", sees: "2 of 5 stages"},
		keymap.Copy:          {keys: "2y", sees: "copied the id of the deployment"},
		keymap.Redraw:        {keys: "\x0c", sees: "2 Deployment"},
		keymap.Quit:          {keys: "q", sees: "Leave pipedeck"},
		keymap.Follow:        {keys: "2kf", sees: "following", off: "1", reason: "it works in: "},
		keymap.Wrap:          {keys: "3w", sees: "3 Log", off: "1", reason: "it works in: "},
		keymap.NextMatch:     {keys: "2gn", sees: "press a to approve", off: "1", reason: "it works in: "},
		keymap.PreviousMatch: {keys: "2gN", sees: "press a to approve", off: "1", reason: "it works in: "},
		keymap.Form:          {keys: "2v", sees: "2 Deployment", off: "1", reason: "it works in: "},
		keymap.Fold:          {keys: "2F", sees: "2 Deployment", off: "1", reason: "it works in: "},
	}
}

func TestEveryActionHasItsRow(t *testing.T) {
	t.Parallel()
	for _, b := range keymap.Default() {
		if b.Runs() {
			require.Contains(t, rows(), b.Action)
		}
	}
}

func TestEveryActionWorks(t *testing.T) {
	t.Parallel()
	for action, r := range rows() {
		if r.keys == "" {
			continue
		}
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			real := decktest.Environment()
			real.Simulated, real.Clusters[0].Simulated = false, false
			server.Publish(real)
			s := session{client: dial(t, server), width: 120, height: 36, saveDir: t.TempDir()}.start(t, t.Context())
			s.seesText("press a to approve")
			s.types(r.keys)
			if r.call != nil {
				require.IsType(t, r.call, call(t, server))
			} else {
				s.seesText(r.sees)
			}
			require.Empty(t, server.Calls, "and nothing else")
		})
	}
}

func TestEveryActionThatIsOffSaysWhyWhereverItIsAskedFor(t *testing.T) {
	t.Parallel()
	for action, r := range rows() {
		m := still(t)
		m.size(120, 36)
		m.see(ended()...)
		m.screen.enterMain()
		for _, key := range r.off {
			m.key(string(key))
		}
		reason := ""
		m.openPalette()
		p := m.overlays.top().(*palette)
		for i, entry := range p.entries() {
			if entry.Action == action {
				reason, p.at = entry.Reason, i
			}
		}
		if r.reason == "" {
			require.Empty(t, reason, action)
			continue
		}
		require.Contains(t, reason, r.reason, action)
		shown := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(
			ansi.Strip(p.draw(120, 36)))), " ")
		require.Contains(t, shown, "not now: "+reason, "the palette shows all of it")
		m.key("enter")
		require.Contains(t, m.toast.text, reason)
		require.True(t, m.toast.bad)
	}
}
