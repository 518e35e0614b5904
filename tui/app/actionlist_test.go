// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// row is what is expected of one action.
type row struct {
	// keys start it; then sees is on the screen, which was not before, or the deck API gets exactly call.
	keys, sees string
	call       proto.Message
	// in is where it works; nil is a canary that waits for approval, in a cluster that runs containers.
	in []proto.Message
	// ends: the UI ends with outcome.
	ends    bool
	outcome Outcome
	// story is the test that shows the action at work where that needs more than keys.
	story string
	// off keys lead to where it does nothing, for a reason; empty for an action that always works.
	off, reason string
}

// ended is an environment whose deployment has failed, with a disabled application.
func ended() []proto.Message {
	objects := []proto.Message{clusterless(), decktest.Failed()}
	app := decktest.Application()
	app.Disabled, app.Deploying = true, false
	for _, c := range decktest.Components() {
		objects = append(objects, c)
	}
	return append(objects, app)
}

func rows() map[keymap.Action]row {
	const elsewhere = "it works in: "
	return map[keymap.Action]row{
		keymap.Approve: {keys: "a", call: approval("ada"), reason: "does not wait for approval"},
		keymap.Skip: {keys: "Sy", reason: "cannot be skipped now",
			call: &deckv1.SkipStageRequest{DeploymentId: "dep-1", StageId: "s3", Commander: "ada"}},
		keymap.Break: {keys: "b1",
			call: &deckv1.ChangeBreakpointsRequest{Set: []*deckv1.Breakpoint{{
				When: deckv1.Breakpoint_WHEN_BEFORE, Application: "hello-world", Stage: "WAIT_APPROVAL"}}}},
		keymap.Cancel: {keys: "cy", call: &deckv1.CancelDeploymentRequest{DeploymentId: "dep-1", Commander: "ada"},
			reason: "the deployment has ended"},
		keymap.Sync: {keys: "sy", call: &deckv1.SyncApplicationRequest{ApplicationId: "app-1"},
			reason: "hello-world is disabled"},
		keymap.Retry: {keys: "Ry", in: past(1), reason: "hello-world is disabled",
			call: &deckv1.RetryDeploymentRequest{DeploymentId: "dep-1", Commander: "ada"}},
		keymap.Rollback: {keys: "B1y", in: past(1), reason: "hello-world is disabled",
			call: &deckv1.RollBackApplicationRequest{DeploymentId: "earlier-1", Commander: "ada"}},
		keymap.Restart: {keys: "4ry", call: &deckv1.RestartPluginRequest{Name: "kubernetes"},
			reason: "select a plugin first: 4"},
		keymap.LookNow: {keys: "D", call: &deckv1.LookAtApplicationRequest{ApplicationId: "app-1"},
			reason: "hello-world is disabled"},
		keymap.Reach: {keys: "o", call: &deckv1.OpenApplicationRequest{ApplicationId: "app-1"},
			reason: "the cluster is simulated, no container runs"},
		keymap.EditManifest: {story: "TestAManifestIsEditedAndCommittedWhenTheUserSaysSo",
			reason: "its repository is not on this machine"},
		keymap.Shell: {story: "TestAShellWorksInTheClusterAndReturns",
			reason: "the environment has no cluster"},
		keymap.Fault: {story: "TestAFaultIsGivenToTheNextRunOfTheSelectedStage", reason: noCommands},
		keymap.Calls: {story: "TestACallOfTheInspectorIsShownCopiedAndSaved", off: "1", reason: elsewhere},
		keymap.ShowCard: {story: "TestTheCardsAreShownOnceInAnEnvironment",
			reason: "the newest deployment of hello-world did not succeed"},
		keymap.StartAgain: {story: "TestAStoppedEnvironmentCanBeStartedAgain", reason: "it is running"},

		keymap.ShowApplications: {keys: "1/hello", sees: "1 of 1"},
		keymap.ShowDeployment:   {keys: "12y", sees: "copied the id of the deployment"},
		keymap.ShowLog:          {keys: "3", sees: "━ 3 Log"},
		keymap.ShowPlugins:      {keys: "4", sees: "last output"},
		keymap.ShowEnvironment:  {keys: "e", sees: "Preflight"},
		keymap.ShowHistory:      {keys: "d", sees: "Deployments of hello-world"},
		keymap.ShowResources:    {keys: "t", sees: "Resources"},
		keymap.ShowInsights:     {keys: "I", sees: "of an older pipedeck, which measures nothing"},
		keymap.ShowPreview:      {keys: "P", sees: "watches no repository on this machine"},
		keymap.PutBack: {story: "TestWhatIsDriftedIsComparedAndPutBack", off: "t",
			reason: "hello-world is disabled"},
		keymap.PodLog: {story: "TestTheLogOfAPodIsFollowedFromItsResource", off: "t",
			reason: "select a pod"},
		keymap.PodShell: {story: "TestAShellInAPodIsThatOfKubectl", off: "t",
			reason: "select a pod"},
		keymap.Inspect:      {keys: "2iy", sees: "copied the id of the stage"},
		keymap.NextPane:     {keys: "2\t/", sees: "letters search"},
		keymap.PreviousPane: {keys: "2\x1b[Z/", sees: "letters filter"},
		keymap.Help:         {keys: "?", sees: "graph first"},
		keymap.Search:       {keys: "/", sees: "You are typing"},
		keymap.Zoom:         {keys: "4zy", sees: "copied"},
		keymap.Big:          {keys: "2Z", sees: "2 of 5 stages"},
		keymap.Copy:         {keys: "2y", sees: "copied the id of the deployment"},
		keymap.ShowShare:    {keys: "Y", sees: "--serve-ssh"},
		keymap.Redraw:       {story: "TestWhatIsDrawnPieceByPieceIsWhatIsDrawnAtOnce"},
		keymap.Quit:         {keys: "q", sees: "Leave pipedeck"},

		keymap.FirstError: {keys: "3!", sees: "no error in this log so far", off: "1", reason: elsewhere},
		keymap.Level:      {keys: "3L", sees: "0 of 0 lines", off: "1", reason: elsewhere},
		keymap.Times:      {keys: "3T", sees: "times: ", off: "1", reason: elsewhere},
		keymap.Save:       {story: "TestALogIsSavedAsItCame", off: "1", reason: elsewhere},
		keymap.Wrap:       {story: "TestAHitBeyondTheEdgeOfAnUnwrappedLineIsShown", off: "1", reason: elsewhere},
		keymap.Follow:     {keys: "2kfi", sees: "Stage WAIT_APPROVAL", off: "1", reason: elsewhere},
		keymap.NextMatch:  {keys: "2gni", sees: "Stage WAIT_APPROVAL", off: "1", reason: elsewhere},
		keymap.PreviousMatch: {keys: "2gNi", sees: "Stage WAIT_APPROVAL", off: "1",
			reason: elsewhere},
		keymap.Merge:        {keys: "3m", sees: "all stages", off: "1", reason: elsewhere},
		keymap.PluginOutput: {keys: "3p", sees: "WAIT_APPROVAL + ", off: "1", reason: elsewhere},
		keymap.SelectLines:  {keys: "3v", sees: "there is no line to select", off: "1", reason: elsewhere},
		keymap.OnlyHits:     {keys: "3&", sees: "nothing to filter by", off: "1", reason: elsewhere},
		keymap.Form:         {keys: "2v", sees: "boxes", off: "1", reason: elsewhere},
		keymap.Fold: {
			story: "TestStagesThatHaveEndedAreFoldedWhereNotAllHaveRoom", off: "1", reason: elsewhere,
		},

		keymap.KeepRunning: {keys: "qy", ends: true, outcome: LeaveRunning},
		keymap.TearDown:    {keys: "qtdefault\r", ends: true, outcome: TearDown},
		keymap.Interrupt:   {keys: "\x03", ends: true, outcome: LeaveRunning},
		keymap.Stay:        {keys: "qs2y", sees: "copied the id of the deployment"},
		keymap.No:          {keys: "snccn2y", sees: "copied the id of the deployment"},
		keymap.Yes: {keys: "cy", call: &deckv1.CancelDeploymentRequest{DeploymentId: "dep-1",
			Commander: "ada"}},
		keymap.Otherwise: {keys: "cr", call: &deckv1.CancelDeploymentRequest{DeploymentId: "dep-1", Commander: "ada",
			Rollback: deckv1.CancelDeploymentRequest_ROLLBACK_NONE}},
		keymap.Pick: {keys: "s2", call: &deckv1.SyncApplicationRequest{ApplicationId: "app-1",
			Strategy: "PIPELINE"}},
	}
}

// approval is what the deck API gets when ada approves the canary in a name.
func approval(name string) *deckv1.ApproveStageRequest {
	return &deckv1.ApproveStageRequest{DeploymentId: "dep-1", StageId: "s3", Commander: name, User: "ada"}
}

// real is an environment in a cluster that runs containers, in the middle of a canary.
func real() []proto.Message {
	e := decktest.Environment()
	e.Simulated, e.Clusters[0].Simulated = false, false
	return append(decktest.Running(), e)
}

// isAnswer reports whether a binding answers a dialog.
func isAnswer(b keymap.Binding) bool {
	switch b.Action {
	case keymap.Up, keymap.Down, keymap.Open:
		return false
	}
	return b.In(keymap.QuitDialog) || b.In(keymap.ConfirmDialog) || b.In(keymap.ChoiceDialog)
}

func TestEveryActionHasItsRow(t *testing.T) {
	t.Parallel()
	var tests []byte
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		tests = append(tests, content...)
	}
	all := rows()
	for _, b := range keymap.Default() {
		if b.Runs() || isAnswer(b) {
			require.Contains(t, all, b.Action)
			r := all[b.Action]
			require.True(t, (r.keys == "") == (r.story != ""), "%s has keys or a story", b.Action)
			require.Contains(t, string(tests), "func "+r.story, b.Action)
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
			r.works(t)
		})
	}
}

// works plays the keys of a row.
func (r row) works(t *testing.T) {
	server := decktest.Start(t)
	if r.in == nil {
		r.in = real()
	}
	server.Publish(r.in...)
	s := session{client: dial(t, server), width: 120, height: 36, saveDir: t.TempDir()}.start(t, t.Context())
	s.seesText("2 Deployment · hello-world", "? help")
	if r.sees != "" {
		require.NotContains(t, s.settled(), r.sees, "before the keys")
	}
	s.types(r.keys)
	switch {
	case r.ends:
		outcome, err := s.ends()
		require.NoError(t, err)
		require.Equal(t, r.outcome, outcome)
	case r.call != nil:
		got := call(t, server)
		require.Truef(t, proto.Equal(r.call, got), "%T{%v} and not %v", got, got, r.call)
	default:
		s.seesText(r.sees)
	}
	require.Empty(t, server.Calls, "and nothing else")
}

func TestActionsHaveVariants(t *testing.T) {
	t.Parallel()
	named := decktest.Canary()
	named.Stages[2].Approvers = []string{"alice", "bob"}
	for name, r := range map[string]row{
		"a quick sync": {keys: "s1", call: &deckv1.SyncApplicationRequest{ApplicationId: "app-1",
			Strategy: "QUICK_SYNC"}},
		"a sync by the palette": {keys: ":newest\ry", call: &deckv1.SyncApplicationRequest{ApplicationId: "app-1"}},
		"no sync":               {keys: "s\rsn2y", sees: "copied the id of the deployment"},
		"approval as another":   {keys: "a2", in: append(real(), named), call: approval("bob")},
		"no skip":               {keys: "Sn2y", sees: "copied the id of the deployment"},
		"the third plugin":      {keys: "4jjry", call: &deckv1.RestartPluginRequest{Name: "wait"}},
		"a rollback by a quick sync": {keys: "B21", in: past(1, 2), call: &deckv1.RollBackApplicationRequest{
			DeploymentId: "earlier-2", Commander: "ada", Strategy: "QUICK_SYNC"}},
		"a rollback from the history": {keys: "dGBy", in: past(1, 2), call: &deckv1.RollBackApplicationRequest{
			DeploymentId: "earlier-2", Commander: "ada"}},
		"tearing down by another name": {keys: "qtproduction\r", sees: "this is not the name of the environment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.works(t)
		})
	}
}

func TestARefusalOfTheDeckAPIIsShownForEveryAction(t *testing.T) {
	t.Parallel()
	for action, doing := range map[keymap.Action]string{
		keymap.Approve: "approve WAIT_APPROVAL of hello-world", keymap.Skip: "skip WAIT_APPROVAL",
		keymap.Cancel: "cancel the deployment", keymap.Sync: "deploy hello-world", keymap.Retry: "retry hello-world",
		keymap.Rollback: "roll hello-world back", keymap.Restart: "restart kubernetes",
		keymap.Reach: "open hello-world",
	} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			r := rows()[action]
			if r.in == nil {
				r.in = real()
			}
			server.Publish(r.in...)
			server.Refuse(status.Error(codes.FailedPrecondition, "the disk is full"))
			s := play(t, dial(t, server), 120, 36, seams{})
			s.seesText("2 Deployment · hello-world", "? help")
			s.types(r.keys)
			require.True(t, proto.Equal(r.call, call(t, server)))
			s.seesText("cannot " + doing + ": the disk is full")
			server.Refuse(nil)
			s.types(r.keys)
			require.True(t, proto.Equal(r.call, call(t, server)), "it can be tried again")
			s.losesText("the disk is full")
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
