// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/story"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/gittest"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// play prepares a story with these steps on an environment that runs, and returns the captions that watchers get.
func play(t *testing.T, server *decktest.Server, steps string) (*Play, <-chan *deckv1.Caption) {
	t.Helper()
	content := "apiVersion: pipedeck.dev/v1\nkind: Story\ntitle: A title\nsample: hello-world\nsteps:\n" + steps
	read, err := story.Parse([]byte(content), "my.yaml", samples)
	require.NoError(t, err)
	captions, deck := make(chan *deckv1.Caption, 2*story.MaxSteps), server.Dial(t)
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	t.Cleanup(watching.Wait)
	t.Cleanup(cancel)
	stream, err := deck.Watch(ctx, &deckv1.WatchRequest{})
	require.NoError(t, err)
	watching.Go(func() {
		for {
			response, err := stream.Recv()
			if err != nil {
				return
			}
			for _, event := range response.GetEvents() {
				if event.GetCaption() != nil {
					captions <- event.GetCaption()
				}
			}
		}
	})
	return &Play{Story: read, Deck: deck, Fast: true, Clock: clock.System{}, Commander: "ada"}, captions
}

func requireCaption(t *testing.T, want, got *deckv1.Caption) {
	t.Helper()
	require.True(t, proto.Equal(want, got), "want %v, got %v", want, got)
}

func running(t *testing.T, more ...proto.Message) *decktest.Server {
	t.Helper()
	server := decktest.Start(t)
	server.Publish(append(decktest.Running(), more...)...)
	return server
}

func TestAStepShowsItsCaptionAwaitsAndThenMakesItsChange(t *testing.T) {
	t.Parallel()
	server := running(t)
	p, captions := play(t, server, `
  - say: It waits for you
    show: log
    await: {deployment: hello-world, stage: WAIT_APPROVAL, status: WAITING}
    approve: {application: hello-world, stage: WAIT_APPROVAL}
`)
	next := make(chan struct{})
	p.Next = next
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	focus := &deckv1.CaptionFocus{Step: 1, Pane: "log"}
	requireCaption(t, &deckv1.Caption{Text: "It waits for you", Step: 1, Steps: 1,
		Awaits: "hello-world WAIT_APPROVAL WAITING", Focus: focus}, <-captions)
	requireCaption(t, &deckv1.Caption{Text: "It waits for you", Step: 1, Steps: 1, Focus: focus}, <-captions)
	require.Empty(t, server.Calls, "the viewer still reads")
	next <- struct{}{}
	approval := (<-server.Calls).(*deckv1.ApproveStageRequest)
	require.Equal(t, "ada", approval.GetCommander())
	require.NoError(t, <-ended)
}

func TestAnEnvironmentThatStopsIsNoFailureOfItsStep(t *testing.T) {
	t.Parallel()
	server := running(t)
	server.Refuse(status.Error(codes.Unavailable, "the control plane is stopping"))
	p, _ := play(t, server, "  - say: x\n")
	err := p.Run(t.Context())
	require.EqualError(t, err, "my.yaml:6: step 1 of 1 failed: show the caption: the control plane is stopping")
	require.Equal(t, codes.Unavailable, status.Code(err), "who plays it sees why")
}

func TestAnAwaitThatFailsNamesItsPlaceAndWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps string
		there []proto.Message
		want  string
	}{
		"a deployment that has ended otherwise": {
			"  - say: x\n    await: {deployment: hello-world, status: SUCCESS}\n", []proto.Message{decktest.Failed()},
			"my.yaml:7: step 1 of 1 failed: awaited hello-world SUCCESS: the deployment is FAILURE: ",
		},
		"a deployment that goes on": {
			"  - say: x\n    await: {deployment: hello-world, status: SUCCESS, within: 2s}\n", nil,
			"my.yaml:7: step 1 of 1 failed: awaited hello-world SUCCESS for 2s: the deployment is RUNNING",
		},
		"an application that is not there yet": {
			"  - say: x\n  - await: {application: hello-world-quick, sync: SYNCED, within: 2s}\n", nil,
			"my.yaml:7: step 2 of 2 failed: awaited hello-world-quick SYNCED for 2s: there is no such application",
		},
		"a plugin that is still compiled": {
			"  - say: x\n    await: {plugin: greeter, state: RUNNING, within: 2s}\n", []proto.Message{
				&deckv1.Component{Name: "plugin greeter", State: deckv1.Component_STATE_STARTING, Detail: "compiling"},
			},
			"awaited plugin greeter RUNNING for 2s: there is no such plugin; plugin greeter is STARTING: compiling",
		},
		"a stage that the deployment does not have": {
			"  - say: x\n    await: {deployment: hello-world, stage: canry, status: SUCCESS}\n",
			[]proto.Message{decktest.Succeeded()},
			`my.yaml:7: step 1 of 1 failed: awaited hello-world canry SUCCESS: the deployment is SUCCESS; it has no ` +
				`stage "canry"; its stages: `,
		},
		"a plugin that was not reloaded": {
			"  - say: x\n    await: {plugin: kubernetes, state: RUNNING, reloads: 1, within: 2s}\n", nil,
			"awaited plugin kubernetes RUNNING after 1 reload for 2s: it is RUNNING after 0 restarts and 0 reloads",
		},
		"an unknown plugin": {
			"  - say: x\n    await: {plugin: nothing, state: RUNNING, within: 2s}\n", nil,
			"awaited plugin nothing RUNNING for 2s: there is no such plugin",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := play(t, running(t, c.there...), c.steps)
			err := p.Run(t.Context())
			require.ErrorContains(t, err, c.want)
			var failure *exit.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, exit.Failed, failure.Code)
			require.NotEmpty(t, failure.Hint)
		})
	}
}

func TestAChangeThatFailsNamesItsPlaceAndWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ steps, want string }{
		"a stage that no one can approve": {
			"  - say: x\n    approve: {application: hello-world, stage: canry}\n",
			`my.yaml:6: step 1 of 1 failed: approve hello-world canry: the newest deployment: it has no stage "canry"`,
		},
		"an approval before the deployment": {
			"  - say: x\n    approve: {application: hello-world-quick, stage: approve}\n",
			"approve hello-world-quick approve: the deployment has not begun; await its stage first",
		},
		"a plugin to kill": {
			"  - say: x\n    killPlugin: waitaproval\n",
			"kill the plugin waitaproval: there is no such plugin; there are: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := play(t, running(t), c.steps)
			require.ErrorContains(t, p.Run(t.Context()), c.want)
		})
	}
}

func TestAPluginIsKilledOnlyOnceItHasStarted(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Component(0, "piped", "pid 1"))
	p, _ := play(t, server, "  - say: x\n    killPlugin: wait\n")
	require.ErrorContains(t, p.Run(t.Context()), "kill the plugin wait: no plugin has started; await it first")
}

func TestAfterAnEditOnlyDeploymentsOfItsCommitCount(t *testing.T) {
	t.Parallel()
	server := running(t, decktest.Succeeded())
	p, captions := play(t, server, `
  - say: Two files, one commit
    edit: {file: hello-world/deployment.yaml, replace: kind, with: sort}
  - edit: {file: hello-world/service.yaml, replace: kind, with: sort, message: Count}
  - say: Deployed
    await: {deployment: hello-world, status: SUCCESS}
`)
	p.Repository = t.TempDir()
	gittest.Run(t, p.Repository, "init", "--quiet")
	require.NoError(t, os.Mkdir(filepath.Join(p.Repository, "hello-world"), 0o755))
	files := []string{"hello-world/deployment.yaml", "hello-world/service.yaml"}
	for _, file := range files {
		require.NoError(t, os.WriteFile(filepath.Join(p.Repository, file), []byte("kind\nkind\n"), 0o644))
	}
	gittest.Run(t, p.Repository, "add", ".")
	gittest.Run(t, p.Repository, "commit", "--quiet", "-m", "Begin")
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()) }()
	for range 3 {
		<-captions // up to that of the step that awaits
	}
	require.Equal(t, strings.Join(files, "\n"), gittest.Run(t, p.Repository, "show", "--name-only", "--format="))
	require.Equal(t, "sort\nkind", gittest.Run(t, p.Repository, "show", "HEAD:"+files[0]), "the first place only")
	newer := decktest.Succeeded()
	newer.Id, newer.CreatedAt = "newer", decktest.At(100)
	newer.Commit.Hash = gittest.Run(t, p.Repository, "rev-parse", "HEAD")
	require.Empty(t, captions, "the deployment before does not count")
	server.Publish(newer)
	require.NoError(t, <-ended)
}

func TestAnEditStaysInTheRepositoryAndFindsItsText(t *testing.T) {
	t.Parallel()
	p := &Play{Repository: t.TempDir()}
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	require.NoError(t, os.WriteFile(outside, []byte("one"), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(p.Repository, "link.yaml")))
	require.NoError(t, os.WriteFile(filepath.Join(p.Repository, "a.yaml"), []byte("two"), 0o644))
	for file, want := range map[string]string{
		"link.yaml": "is not a regular file", "missing.yaml": "edit missing.yaml: no such file",
		"a.yaml": `does not hold "one"`,
	} {
		err := p.edit(t.Context(), story.Edit{File: file, Replace: "one", With: "three", Message: "m"})
		require.ErrorContains(t, err, want)
	}
	content, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "one", string(content))
}

func TestTheEndOfTheContextIsNoFailureOfTheStory(t *testing.T) {
	t.Parallel()
	p, captions := play(t, running(t), "  - say: x\n    await: {deployment: hello-world, status: CANCELLED}\n")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	<-captions
	cancel()
	err := <-ended
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, strings.Contains(err.Error(), "step"), err)
}

func TestAStageIsShownOfTheDeploymentThatTheEditBegan(t *testing.T) {
	t.Parallel()
	p, captions := play(t, running(t, decktest.Succeeded()), `
  - say: It begins again
    sync: hello-world
  - say: Its log
    show: log
    application: hello-world
    stage: canary
`)
	require.NoError(t, p.Run(t.Context()))
	<-captions
	shown := <-captions
	require.Equal(t, "canary", shown.GetFocus().GetStage())
	require.Equal(t, decktest.Succeeded().GetId(), shown.GetFocus().GetAfterDeploymentId())
	require.Empty(t, shown.GetFocus().GetCommit())
}

func TestThePluginOfAStoryIsEditedInItsDirectory(t *testing.T) {
	t.Parallel()
	p, _ := play(t, running(t), "  - say: x\n    editPlugin: {replace: one, with: two}\nplugin: greeter\n")
	p.Plugin = Plugin{Dir: t.TempDir(), Work: "stage.go"}
	file := filepath.Join(p.Plugin.Dir, "stage.go")
	require.NoError(t, os.WriteFile(file, []byte("one one"), 0o600))
	require.NoError(t, p.Run(t.Context()))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "two one", string(content))
}
