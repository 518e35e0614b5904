// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func call(t *testing.T, server *decktest.Server) proto.Message {
	t.Helper()
	select {
	case request := <-server.Calls:
		return request
	case <-time.After(patience):
		t.Fatal("no call came")
		return nil
	}
}

func TestFromTheStartUpStepsToAnApproval(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("Starting default", "connecting")

	server.Publish(starting()...)
	s.seesText("Kubernetes", "55%", "compiling the embedded server")

	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "Waiting for approval by ada\nor grace")
	s.seesText("◆ hello-world", "press a to approve", "or grace", "simulated: no container runs")

	s.types("a")
	approval := call(t, server).(*deckv1.ApproveStageRequest)
	require.Equal(t, "dep-1", approval.GetDeploymentId())
	require.Equal(t, "s3", approval.GetStageId())
	require.Equal(t, "ada", approval.GetCommander())
	s.seesText("approved WAIT_APPROVAL")

	d := decktest.Failed()
	server.Log("s4", deckv1.Severity_SEVERITY_ERROR, "ImagePullBackOff")
	server.CompleteLog("s4")
	server.Publish(d)
	s.seesText("FAILURE", "progress deadline", "K8S_PRIMARY_ROLLOUT", "ImagePullBackOff")

	s.types("q")
	s.seesText("Leave pipedeck", "tear it down")
	s.types("t")
	s.seesText("Tear down default?", "sample repository are deleted")
	s.types("default\r")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, TearDown, outcome)
}

func TestAKeyPressedTwiceApprovesOneStage(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(100, 30)
	m.see(decktest.Running()...)
	other, waiting := decktest.Application(), decktest.Canary()
	other.Id, other.Name = "app-2", "other"
	waiting.Id, waiting.ApplicationId, waiting.ApplicationName, waiting.CreatedAt = "dep-2", "app-2", "other",
		decktest.At(-60)
	m.receive(other, waiting)
	require.Equal(t, "app-1", m.chosen.app)
	require.NotNil(t, m.key("a"), "the first a approves")

	m.receive(decktest.Failed()) // and the deployment ends at once
	require.Equal(t, "app-1", m.chosen.app, "the next application that waits does not come under the key")
	m.key("a")
	require.Nil(t, m.overlays.top())
	require.Contains(t, m.toast.text, "cannot approve")

	m.chosen.pinApplication("app-2")
	m.receive(other)
	m.key("a")
	require.Contains(t, m.View().Content, "Approve WAIT_APPROVAL as well?")
	m.key("enter")
	require.Nil(t, m.overlays.top(), "no is preselected")
}

func TestARefusedActionShowsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Refuse(status.Error(codes.FailedPrecondition, "the stage \x1b[2Jhas ended"))
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("a")
	s.seesText("cannot approve WAIT_APPROVAL of hello-world: the stage has ended")
	_ = call(t, server)
	server.Refuse(nil)
	s.types("S")
	s.seesText("Skip WAIT_APPROVAL?", "pipedeck skip hello-world WAIT_APPROVAL")
	s.types("y")
	require.Equal(t, "s3", call(t, server).(*deckv1.SkipStageRequest).GetStageId())
	s.seesText("asked to skip WAIT_APPROVAL")
	s.types("s")
	s.seesText("Deploy the newest commit of hello-world?", "pipedeck sync hello-world")
	s.types("y")
	require.Equal(t, "app-1", call(t, server).(*deckv1.SyncApplicationRequest).GetApplicationId())
	s.seesText("asked to deploy hello-world")
	s.types("c")
	s.seesText("Cancel the deployment of hello-world?")
	s.types("y")
	cancel := call(t, server).(*deckv1.CancelDeploymentRequest)
	require.Equal(t, "dep-1", cancel.GetDeploymentId())
	require.Zero(t, cancel.GetRollback(), "the application decides")
	s.seesText("asked to cancel the deployment")
	s.types("r")
	s.seesText("select a plugin first")
	s.types("4")
	s.seesText("last output")
	s.types("r")
	s.seesText("Restart kubernetes?", "pipedeck restart kubernetes")
	s.types("y")
	require.Equal(t, "kubernetes", call(t, server).(*deckv1.RestartPluginRequest).GetName())
}

func TestAUserWhoCancelsDecidesAboutTheRollback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*deckv1.Deployment)
		asks   string
		want   deckv1.CancelDeploymentRequest_Rollback
	}{
		"one that would be rolled back": {func(*deckv1.Deployment) {}, "but without the rollback",
			deckv1.CancelDeploymentRequest_ROLLBACK_NONE},
		"one that would not": {func(d *deckv1.Deployment) {
			d.Stages, d.RollbackOnRequest = d.Stages[:5], true
		}, "and roll it back", deckv1.CancelDeploymentRequest_ROLLBACK_FORCED},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			d := decktest.Canary()
			c.change(d)
			server.Publish(d)
			s := play(t, dial(t, server), 80, 24, seams{})
			s.seesText("press a to approve")
			s.types("c")
			s.seesText(c.asks)
			s.types("r")
			require.Equal(t, c.want, call(t, server).(*deckv1.CancelDeploymentRequest).GetRollback())
			s.seesText("asked to cancel the deployment")
		})
	}
	t.Run("one that cannot be", func(t *testing.T) {
		t.Parallel()
		server := decktest.Start(t)
		server.Publish(decktest.Running()...)
		d := decktest.Canary()
		d.Stages = d.Stages[:5]
		server.Publish(d)
		s := play(t, dial(t, server), 80, 24, seams{})
		s.seesText("press a to approve")
		s.types("c")
		s.seesText("yes, cancel it")
		s.types("r")
		s.types("y")
		require.Zero(t, call(t, server).(*deckv1.CancelDeploymentRequest).GetRollback(), "r does nothing there")
	})
}

func TestAnApplicationIsOpenedWhereItsContainersRun(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("o")
	s.seesText("cannot open the application: the cluster is simulated")
	require.Empty(t, server.Calls)

	real := decktest.Environment()
	real.Simulated, real.Clusters[0].Simulated = false, false
	server.Publish(real)
	s.seesText("o open")
	s.types("o")
	require.Equal(t, "app-1", call(t, server).(*deckv1.OpenApplicationRequest).GetApplicationId())
	s.seesText("http://127.0.0.1:34567 is hello-world")

	server.Refuse(status.Error(codes.FailedPrecondition, "no pod of it is ready"))
	s.types("o")
	s.seesText("cannot open hello-world: no pod of it is ready")
}

func TestWhereAnApplicationIsReachedDecidesWhetherItIsSimulated(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	environment := decktest.Environment()
	environment.Clusters = []*deckv1.Cluster{{Name: "dev", Simulated: true}, {Name: "prod"}}
	m.receive(environment)
	app := decktest.Application()
	for target, simulated := range map[string]bool{"kubernetes/dev": true, "kubernetes/prod": false,
		"elsewhere/x": true} {
		app.DeployTargets = []string{target, "kubernetes/dev"}
		m.receive(app)
		require.Equal(t, simulated, m.actions.reasons()[keymap.Reach] != "", target)
	}
}

func TestAnApplicationThatIsInNoClusterIsNotOpened(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 40)
	environment := decktest.Environment()
	environment.Simulated = false
	environment.Clusters = []*deckv1.Cluster{{Name: "local"}, {Name: "nowhere", Kind: noCluster}}
	m.receive(environment)
	app := decktest.Application()
	for target, opens := range map[string]bool{"terraform/here": false, "terraform/nowhere": false,
		"kubernetes/prod": true, "own/local": true} {
		app.DeployTargets = []string{target}
		m.receive(app)
		reason := ""
		if !opens {
			reason = "hello-world is not deployed to a cluster"
		}
		require.Equal(t, reason, m.actions.reasons()[keymap.Reach], target)
		require.Equal(t, opens, len(m.cards.reached(app)) > 0, target)
	}
}

func TestAnEnvironmentThatStopsBeforeTheConnectionBreaksEndsTheUI(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	stopped := decktest.Component(4, "piped", "stopped")
	stopped.State = deckv1.Component_STATE_STOPPED
	server.Publish(stopped)
	s.seesText("4 of 5 parts ready")
	server.Break()
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, EnvironmentGone, outcome)
}

func TestTheQuitDialog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		want Outcome
	}{
		"keep running":                     {[]string{"q", "y"}, LeaveRunning},
		"tear down by arrows":              {[]string{"q", "\x1b[B\x1b[B\r", "default\r"}, TearDown},
		"ctrl+c keeps running":             {[]string{"\x03"}, LeaveRunning},
		"staying closes it":                {[]string{"q", "s", "q", "y"}, LeaveRunning},
		"ctrl+c out of another dialog":     {[]string{"c", "\x03"}, LeaveRunning},
		"ctrl+c while a search is typed":   {[]string{"/", "\x03"}, LeaveRunning},
		"ctrl+c in the help":               {[]string{"?", "\x03"}, LeaveRunning},
		"tab and enter choose tear down":   {[]string{"q", "\t\t\r", "default\r"}, TearDown},
		"a key that means nothing does so": {[]string{"q", "x", "y"}, LeaveRunning},
		"up chooses and does not leave":    {[]string{"q", "kjk\t\t\r", "default\r"}, TearDown},
		"enter keeps running":              {[]string{"q", "\r"}, LeaveRunning},
		"ctrl+c while the name is typed":   {[]string{"q", "t", "defau\x03"}, LeaveRunning},
		"another name can be corrected":    {[]string{"q", "t", "y\r", "\x15default\r"}, TearDown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			s := play(t, dial(t, server), 80, 24, seams{})
			s.seesText("press a to approve")
			for _, key := range c.keys {
				s.types(key)
			}
			outcome, err := s.ends()
			require.NoError(t, err)
			require.Equal(t, c.want, outcome)
		})
	}
}

func TestResizingAndATerminalThatIsTooSmall(t *testing.T) {
	t.Parallel()
	signals.Lock()
	defer signals.Unlock()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 19, 10, seams{})
	s.seesText("too small", "20x6")
	s.resize(120, 40)
	s.seesText("1 Applications", "press a to approve", "v0.1.0")
	s.resize(71, 24)
	s.seesText("1 Apps 1", "press a to approve")
	s.resize(72, 24)
	s.seesText(" ◆ hello-world", "press a to approve")
	s.losesText("1 Apps 1")
	s.resize(20, 5)
	s.seesText("too small")
	s.types("q")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, LeaveRunning, outcome)
}

func TestNoColorInTheTerminal(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{}, "NO_COLOR=yes")
	s.seesText("press a to approve")
	s.mu.Lock()
	defer s.mu.Unlock()
	for y := range 24 {
		for x := range 80 {
			cell := s.screen.Cell(x, y)
			plain := cell.FG == vt10x.DefaultFG && cell.BG == vt10x.DefaultBG
			reversed := cell.FG == vt10x.DefaultBG && cell.BG == vt10x.DefaultFG
			require.Truef(t, plain || reversed, "column %d of line %d has a colour: %v on %v", x, y, cell.FG, cell.BG)
		}
	}
}

func TestALongLogCanBeScrolledAndSearched(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	var all []string
	for i := range 5000 {
		all = append(all, fmt.Sprintf("number %04d", i))
	}
	all[1234] = "number 1234 has a Needle"
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, all...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("number 4999", "5,000 lines")
	s.types("3g")
	s.seesText("number 0000", "pinned")
	s.types("/needle\r")
	s.seesText("has a Needle", "1 of 1 hit")
	s.types("G")
	s.seesText("number 4999")
	s.types("/absent\r")
	s.seesText("no hit in 5,000 lines")
	s.types("f")
	server.Log("s3", deckv1.Severity_SEVERITY_SUCCESS, "the very end")
	s.seesText("the very end", "5,001 lines")
	s.types("\x1b")
	s.losesText("no hit")
}

func TestALostConnectionIsShownAndTriedAgain(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "before")
	client := server.Dial(t)
	attempts := make(chan error, 8)
	attempts <- nil
	s := play(t, func(ctx context.Context) (deckv1.DeckServiceClient, error) {
		select {
		case err := <-attempts:
			return client, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, 80, 24, seams{})
	s.seesText("press a to approve", "before")

	attempts <- errors.New("no process listens")
	server.Break()
	s.seesText("not answering, reconnecting", "hello-world")
	s.types("a")
	s.seesText("no process listens")

	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "after")
	attempts <- nil
	s.losesText("reconnecting")
	s.seesText("before", "after")
}

func TestAStoppedEnvironmentCanBeStartedAgain(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	client := server.Dial(t)
	attempts := make(chan error, 8)
	attempts <- nil
	begun := make(chan error)
	s := session{client: func(ctx context.Context) (deckv1.DeckServiceClient, error) {
		select {
		case err := <-attempts:
			return client, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, begin: func(context.Context) error { return <-begun }, width: 80, height: 24}.start(t, context.Background())
	s.seesText("press a to approve")
	s.types("u")
	s.seesText("cannot start the environment again: it is running")

	stopped := fmt.Errorf("no process holds its lock:  %w", ErrEnvironmentStopped)
	attempts <- stopped
	server.Break()
	s.seesText("The environment has stopped: its process was killed. Press u", "hello-world", "✗ stopped")
	s.losesText("parts ready")
	attempts <- nil
	s.losesText("has stopped")
	s.seesText("✓ 5 parts, 4 plugins ready")
	s.seesText("press a to approve")

	s.types("4")
	s.seesText("last output")
	attempts <- stopped
	server.Break()
	s.seesText("The environment has stopped")
	s.types("u")
	s.seesText("The environment is starting again")
	s.types("u")
	s.seesText("cannot start the environment again: it is starting")
	attempts <- stopped // its process is not there yet
	attempts <- nil
	s.losesText("starting again")
	begun <- nil
	s.seesText("parts, 4 plugins ready", "last output") // the pane is the same

	attempts <- stopped
	server.Break()
	s.seesText("The environment has stopped")
	s.types("u")
	begun <- errors.New("the program is gone")
	_, err := s.ends()
	require.ErrorContains(t, err, "the program is gone")
}

func TestALogThatCannotBeReadSaysSoAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "first line")
	retry := make(chan time.Time)
	s := play(t, dial(t, server), 80, 24, seams{clock: clock{now: time.Now,
		after: func(d time.Duration) <-chan time.Time {
			if d == logRetry {
				return retry
			}
			return time.After(d)
		}}})
	s.seesText("first line")
	server.RefuseLogs(status.Error(codes.Internal, "the disk is gone"))
	s.seesText("first line", "cannot read the log: the disk is gone")
	retry <- time.Now()
	s.losesText("first line")
	s.seesText("cannot read the log: the disk is gone")
	server.RefuseLogs(nil)
	retry <- time.Now()
	s.seesText("first line")
	s.losesText("cannot read")
}

func TestAnEnvironmentThatIsShutDownEndsTheUI(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	server.End()
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, EnvironmentGone, outcome)
}

func TestAnInterruptRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	ctx, cancel := context.WithCancel(context.Background())
	s := session{client: dial(t, server), width: 80, height: 24}.start(t, ctx)
	s.seesText("press a to approve")
	cancel()
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, Interrupted, outcome)
}

func TestAPanicRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, panicOn("x"))
	s.seesText("press a to approve")
	s.types("x")
	_, err := s.ends()
	require.ErrorContains(t, err, "panicked: broken on purpose")
	var crash *PanicError
	require.ErrorAs(t, err, &crash)
	require.Contains(t, string(crash.Stack), "terminal_test.go")
}

func TestAPanicWhileConnectingRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	s := play(t, func(context.Context) (deckv1.DeckServiceClient, error) { panic("no such thing") }, 80, 24, seams{})
	_, err := s.ends()
	require.ErrorContains(t, err, "no such thing")
}

func TestWithoutATerminalRunSaysSo(t *testing.T) {
	t.Parallel()
	closed, err := os.Open(os.DevNull)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	_, err = Run(context.Background(), Config{
		Client: func(ctx context.Context) (deckv1.DeckServiceClient, error) { <-ctx.Done(); return nil, ctx.Err() },
		Input:  closed, Output: &strings.Builder{}, Environ: []string{"TERM=xterm"},
	})
	require.Error(t, err)
	require.ErrorContains(t, err, "--output plain")
}

func TestAPanicWhileDrawingEndsTheUI(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	sent := make(chan tea.Msg, 1)
	m.host.send = func(msg tea.Msg) { sent <- msg }
	m.input.keys, m.link.deck = nil, nil // a view that reads this panics
	require.Empty(t, m.View().Content)
	select {
	case msg := <-sent:
		require.ErrorContains(t, msg.(crashMsg).err, "panicked")
	case <-time.After(patience):
		t.Fatal("no notification came")
	}
}
