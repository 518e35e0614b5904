// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestLogsSayWhyADeploymentHasNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*deckv1.Deployment)
		says   string
	}{
		"a failed planning": {func(d *deckv1.Deployment) {
			d.Stages, d.Status = nil, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
			d.StatusReason = "cannot plan: app.pipecd.yaml:3:1: unknown field\x1b[2J"
		}, "==> hello-world 8b21f00: FAILURE\nit ended in its planning; it has no stage\n" +
			"cannot plan: app.pipecd.yaml:3:1: unknown field\n" +
			"next step: correct the cause and commit, or: pipedeck sync hello-world\n"},
		"a planning under way": {func(d *deckv1.Deployment) {
			d.Stages, d.Status = nil, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING
		}, "==> hello-world 8b21f00: PENDING\nits planning has not ended; it has no stage yet\n"},
		"no stage has begun": {func(d *deckv1.Deployment) {
			d.Stages = d.Stages[3:]
		}, "==> hello-world 8b21f00: RUNNING\nno stage has begun\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			d := decktest.Canary()
			c.change(d)
			server.Publish(decktest.Application(), d)
			deck := server.Dial(t)
			s, err := session.ReadState(t.Context(), deck)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, (&logPrinter{deck: deck, out: &out}).print(t.Context(), s.Deployment("dep-1")))
			require.Equal(t, c.says, out.String())
		})
	}
}

func TestTheLogOfAStageIsFoundByTheIDThatItsAuthorGaveIt(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	d := decktest.Canary()
	d.Stages[1].ConfigId = "pause"
	server.Publish(decktest.Application(), d)
	server.Log("s2", deckv1.Severity_SEVERITY_INFO, "three seconds")
	server.CompleteLog("s2")
	server.CompleteLog("s1")
	for _, w := range []string{"pause", "WAIT", "s2", "pau"} {
		var out bytes.Buffer
		require.NoError(t, (&logPrinter{deck: server.Dial(t), stage: word(w), out: &out}).print(t.Context(), d))
		require.Contains(t, out.String(), "==> hello-world pause (WAIT): SUCCESS\n", w)
		require.Contains(t, out.String(), "three seconds")
	}
	err := (&logPrinter{deck: server.Dial(t), stage: word("paws"), out: io.Discard}).print(t.Context(), d)
	require.ErrorContains(t, err, `there is no stage "paws" in the deployment of hello-world`)
	require.Equal(t, "choose one of: K8S_CANARY_ROLLOUT, pause, WAIT_APPROVAL, K8S_PRIMARY_ROLLOUT, "+
		"K8S_CANARY_CLEAN, K8S_ROLLBACK", nextStep(t, err))
	err = (&logPrinter{deck: server.Dial(t), stage: word("K8S_CANARY_CLEAN"), out: io.Discard}).print(t.Context(), d)
	require.ErrorContains(t, err, `stage "K8S_CANARY_CLEAN" of hello-world has no log, since it has not begun`)
	require.Equal(t, "choose one of: K8S_CANARY_ROLLOUT, pause, WAIT_APPROVAL", nextStep(t, err))
}

func TestASingleArgumentOfLogsMayBeAStage(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), decktest.Application(), decktest.Canary())
	server.Log("s2", deckv1.Severity_SEVERITY_INFO, "three seconds")
	server.CompleteLog("s2")
	stateDir, _ := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "logs", "WAIT")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "==> hello-world WAIT: SUCCESS\n")
	require.Contains(t, stdout, "three seconds")
	require.NotContains(t, stdout, "K8S_CANARY_ROLLOUT")
	code, _, stderr = command(t.Context(), stateDir, "logs", "PAUSE")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, `there is no application or deployment "PAUSE"`)
}

// word is the stage that a user names with --stage.
func word(text string) resolve.Word {
	return typed(&session.State{Deck: state.New()}).Flag("stage", text)
}

// typed returns a command line of logs.
func typed(s *session.State, args ...string) *resolve.Line {
	return resolve.New(&session.Session{State: s}, &cobra.Command{Use: "logs"}, args)
}

// nextStep returns the next step of an error about wrong usage.
func nextStep(t *testing.T, err error) string {
	t.Helper()
	failure := (*exit.Error)(nil)
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.WrongUsage, failure.Code)
	return failure.Hint
}

func TestStagesOfOneTypeWithoutIDsHaveTheirIDsInLogs(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	d := decktest.Canary()
	d.Stages[0].Name = "WAIT"
	server.Publish(decktest.Application(), d)
	server.CompleteLog("s1")
	server.CompleteLog("s2")
	var out bytes.Buffer
	require.NoError(t, (&logPrinter{deck: server.Dial(t), stage: word("WAIT"), out: &out}).print(t.Context(), d))
	require.Equal(t, "==> hello-world s1 (WAIT): SUCCESS\n==> hello-world s2 (WAIT): SUCCESS\n", out.String())
}

func TestTheTableOfDeploymentsNamesAllRunningStages(t *testing.T) {
	t.Parallel()
	d := decktest.Canary()
	d.Stages[2].ConfigId = "legal"
	d.Stages[3].Status, d.Stages[3].ConfigId = deckv1.StageStatus_STAGE_STATUS_RUNNING, "security"
	require.Equal(t, "2/5 legal,security", stagesLine(d))
	require.Equal(t, "6/6", stagesLine(decktest.Failed()))
}

func TestLogsOfNoDeploymentNameTheApplicationToSync(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	read := func() *session.State {
		s, err := session.ReadState(t.Context(), server.Dial(t))
		require.NoError(t, err)
		return s
	}
	_, err := chosenDeployment(typed(read()))
	require.EqualError(t, err, "there is no deployment yet")
	require.Equal(t, "commit an application; see pipedeck apps", nextStep(t, err))
	server.Publish(decktest.Application())
	for name, says := range map[string][2]string{
		"": {"there is no deployment yet", "commit a change, or: pipedeck sync hello-world"},
		"hello-world": {"there is no deployment of hello-world yet",
			"commit a change of it, or: pipedeck sync hello-world"},
	} {
		_, err := chosenDeployment(typed(read(), strings.Fields(name)...))
		require.EqualError(t, err, says[0])
		require.Equal(t, says[1], nextStep(t, err))
	}
	server.Publish(decktest.Canary())
	d, err := chosenDeployment(typed(read(), "hello-world"))
	require.NoError(t, err)
	require.Equal(t, "dep-1", d.GetId())
}

func TestAPluginWithoutALogExistsOrDoesNot(t *testing.T) {
	t.Parallel()
	s := &session.State{Deck: state.New()}
	for _, event := range decktest.Events(&deckv1.Plugin{Name: "wait"}, &deckv1.Plugin{Name: "kubernetes"}) {
		s.Apply(event)
	}
	err := silentPlugin(s, "nosuch", []string{"wait"})
	require.EqualError(t, err, `there is no plugin "nosuch"`)
	require.Equal(t, "choose one of: kubernetes, wait", nextStep(t, err))
	err = silentPlugin(s, "kubernetes", []string{"wait"})
	require.EqualError(t, err, `plugin "kubernetes" has written nothing`)
	require.Equal(t, "choose one of: wait", nextStep(t, err))
}

func TestTheLogsThatAWordFitsAreNamedWithTheirEnvironment(t *testing.T) {
	t.Parallel()
	stateDir, w := running(t, decktest.Start(t))
	for _, name := range []string{"wait", "waitapproval"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), name+".log"), []byte("hello\n"), 0o600))
	}
	code, _, stderr := command(t.Context(), stateDir, "logs", "--plugin", "wai")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "pipedeck logs --plugin waitapproval --state-dir "+stateDir+"\n")
}

func TestLogsAreOfStagesOrOfAPlugin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"web", "--plugin", "wait"}, "give an application or --plugin, not both"},
		{[]string{"--stage", "gate", "--plugin", "wait"}, "give --stage or --plugin, not both"},
	} {
		code, _, stderr := command(t.Context(), t.TempDir(), append([]string{"logs"}, c.args...)...)
		require.Equal(t, exit.WrongUsage, code)
		require.Contains(t, stderr, c.says)
	}
	code, _, stderr := command(t.Context(), t.TempDir(), "logs", "--plugin", "wait")
	require.Equal(t, exit.NotStarted, code)
	require.Contains(t, stderr, "no environment \"default\" is running")
}

func TestAllKeptDeploymentsAreListedAndForgottenOnesAreSaid(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Application())
	add := func(from, to int) {
		for i := from; i < to; i++ {
			d := decktest.Canary()
			d.Id, d.CreatedAt = fmt.Sprintf("dep-%03d", i), decktest.At(float64(i))
			server.Publish(d)
		}
	}
	add(0, 150)
	s, err := session.ReadState(t.Context(), server.Dial(t))
	require.NoError(t, err)
	require.Len(t, s.AllDeployments(), 150)
	require.Empty(t, forgotten(s))
	add(150, store.KeptPerApplication)
	s, err = session.ReadState(t.Context(), server.Dial(t))
	require.NoError(t, err)
	require.Contains(t, forgotten(s), "an environment keeps the newest 200 of an application, and 1000 in all")
}

func TestLogsOfAnUnknownPluginListTheOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := workspace.At(dir, "default")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("hello\n"), 0o600))
	code, _, stderr := command(t.Context(), dir, "logs", "--plugin", "nope")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "environment \"default\" has no log of a plugin \"nope\"\n"+
		"next step: choose one of: wait")
	code, stdout, _ := command(t.Context(), dir, "logs", "--plugin", "wait")
	require.Zero(t, code)
	require.Equal(t, "hello\n", stdout)
}

func TestTheRowOfAPausedDeploymentSaysWhereAndHowToGoOn(t *testing.T) {
	t.Parallel()
	s := degradedSnapshot()
	d := decktest.Canary()
	d.Stages[1].Status = deckv1.StageStatus_STAGE_STATUS_RUNNING
	d.Stages[1].Pause = &deckv1.StagePause{When: deckv1.Breakpoint_WHEN_BEFORE, Since: timestamppb.Now()}
	s.Apply(&deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: d}})
	l := deploymentList(s, []*deckv1.Deployment{d})
	l.name(" --name demo")
	require.Contains(t, strings.Join(l.table.Rows[0], "|"), "paused before "+state.StageWord(d.Stages[1])+
		"; go on with: pipedeck continue --name demo "+d.GetApplicationName())
}
