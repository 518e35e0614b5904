// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

type read func(context.Context, deckv1.DeckServiceClient, io.Writer, reader.Options) error

// story publishes the course of a deployment that fails, and returns what was written about it.
func story(t *testing.T, to read, opts reader.Options) string {
	t.Helper()
	return storyOf(t, to, opts, decktest.Canary(), decktest.Failed())
}

// ended reports whether the deployment of the story has ended.
func ended(d *state.Deck) bool { return state.Ended(d.Deployment("dep-1").GetStatus()) }

// storyOf is a story of a deployment that is running and then has failed.
func storyOf(t *testing.T, to read, opts reader.Options, running, failed *deckv1.Deployment) string {
	t.Helper()
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), decktest.Components()[4], decktest.Plugins()[0], decktest.Application(),
		running)
	server.Publish(&deckv1.LogBlock{DeploymentId: "dep-1", StageId: "s3", Text: "waiting\x1b[2J\nfor ada\n",
		Severity: deckv1.Severity_SEVERITY_INFO})
	server.Publish(&deckv1.LogBlock{DeploymentId: "dep-1", StageId: "s3", Text: "no such image",
		Severity: deckv1.Severity_SEVERITY_ERROR, Index: 1})
	server.Publish(failed)
	opts.Until = ended
	var out bytes.Buffer
	require.NoError(t, to(context.Background(), server.Dial(t), &out, opts))
	return out.String()
}

func withoutTimes(text string) []string {
	var lines []string
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		lines = append(lines, line[len("12:00:00.000  "):])
	}
	return lines
}

func TestPlainIsOneLineForEachChange(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"environment  default  embedded cluster  simulated: no container runs  " +
			"/home/ada/.local/state/pipedeck/default/repo  -> edit hello-world/deployment.yaml there and commit",
		"component    piped  READY  pid 20114, 4 plugins",
		"plugin       kubernetes  RUNNING  pid 20120",
		"application  hello-world  DEPLOYING  HEALTHY",
		"deployment   hello-world 8b21f00  RUNNING  Greet the world in Welsh",
		"stage        hello-world K8S_CANARY_ROLLOUT  SUCCESS",
		"stage        hello-world WAIT  SUCCESS",
		"stage        hello-world WAIT_APPROVAL  RUNNING",
		"stage        hello-world WAIT_APPROVAL  WAITS FOR APPROVAL  -> pipedeck approve hello-world WAIT_APPROVAL",
		"log          hello-world WAIT_APPROVAL  waiting",
		"log          hello-world WAIT_APPROVAL  for ada",
		"log          hello-world WAIT_APPROVAL  ERROR no such image",
		"stage        hello-world WAIT_APPROVAL  SUCCESS",
		"stage        hello-world K8S_PRIMARY_ROLLOUT  FAILURE  the rollout did not become ready in time",
		"stage        hello-world K8S_CANARY_CLEAN  CANCELLED",
		"stage        hello-world K8S_ROLLBACK  SUCCESS",
		"deployment   hello-world 8b21f00  FAILURE  " + decktest.Failed().GetStatusReason(),
	}, withoutTimes(story(t, reader.Plain, reader.Options{})))
}

func TestAStageIsCalledByTheIDThatItsAuthorGaveIt(t *testing.T) {
	t.Parallel()
	running, failed := decktest.Canary(), decktest.Failed()
	running.Stages[2].ConfigId, failed.Stages[2].ConfigId = "gate", "gate"
	lines := withoutTimes(storyOf(t, reader.Plain, reader.Options{}, running, failed))
	require.Contains(t, lines,
		"stage        hello-world gate  WAITS FOR APPROVAL  -> pipedeck approve hello-world gate")
	require.Contains(t, lines, "log          hello-world gate  waiting")
	lines = strings.Split(storyOf(t, reader.Sentences, reader.Options{}, running, failed), "\n")
	require.Contains(t, lines,
		"Stage gate of hello-world waits for approval. To approve it, run: pipedeck approve hello-world gate")
	require.Contains(t, lines, "gate, error: no such image")
}

func TestCommandsForStagesOfOneTypeNameOneStage(t *testing.T) {
	t.Parallel()
	running, failed := decktest.Canary(), decktest.Failed()
	other := running.Stages[1]
	other.Name, other.Status, other.CanApprove = "WAIT_APPROVAL", running.Stages[2].Status, true
	require.Contains(t, storyOf(t, reader.Plain, reader.Options{}, running, failed),
		"hello-world WAIT_APPROVAL  WAITS FOR APPROVAL  -> pipedeck approve hello-world s3")
}

func TestAClusterOfLocalProcessesIsNotCalledSimulated(t *testing.T) {
	t.Parallel()
	for want, to := range map[string]read{
		"built images run as local processes":                                                    reader.Plain,
		"Images that are built here run as processes of this machine; other pods are simulated.": reader.Sentences,
	} {
		server := decktest.Start(t)
		environment := decktest.Environment()
		environment.Simulated, environment.LocalPods = false, true
		server.Publish(environment, decktest.Application(), decktest.Canary(), decktest.Failed())
		var out bytes.Buffer
		require.NoError(t, to(t.Context(), server.Dial(t), &out, reader.Options{Until: ended}))
		require.Contains(t, out.String(), want)
		require.NotContains(t, out.String(), "no container runs")
	}
}

func TestAnEnvironmentWithoutARepositoryWatchesNone(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	environment := decktest.Environment()
	environment.Repository = ""
	server.Publish(environment, decktest.Application(), decktest.Canary(), decktest.Failed())
	var out bytes.Buffer
	require.NoError(t, reader.Sentences(t.Context(), server.Dial(t), &out, reader.Options{Until: ended}))
	require.Contains(t, out.String(), "This is environment default.")
	require.NotContains(t, out.String(), "watches the repository")
}

func TestSentencesAreWholeSentences(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(story(t, reader.Sentences, reader.Options{})), "\n")
	require.Contains(t, lines, "Environment default watches the repository "+
		"/home/ada/.local/state/pipedeck/default/repo. Its cluster is simulated: no container runs. To see a "+
		"deployment, edit hello-world/deployment.yaml there and commit.")
	require.Contains(t, lines, "Stage WAIT_APPROVAL of hello-world waits for approval. To approve it, run: "+
		"pipedeck approve hello-world WAIT_APPROVAL")
	require.Contains(t, lines, "Stage K8S_CANARY_ROLLOUT of hello-world has succeeded after 1.6 seconds.")
	require.Contains(t, lines, "WAIT_APPROVAL, error: no such image")
	require.Equal(t, "Deployment of hello-world has failed: "+decktest.Failed().GetStatusReason()+".",
		lines[len(lines)-1])
}

func TestJSONKeepsTheContract(t *testing.T) {
	t.Parallel()
	fields := map[string][]string{
		"component":   {"name", "state", "detail"},
		"application": {"name", "sync", "health"},
		"deployment":  {"id", "app", "status", "commit", "reason"},
		"stage":       {"deployment", "id", "name", "status", "requires"},
		"log":         {"deployment", "stage", "severity", "text"},
		"plugin":      {"name", "state", "pid", "restarts", "rss", "cpu"},
	}
	var stages []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(story(t, reader.JSON, reader.Options{})))
	for lines.Scan() {
		require.True(t, strings.HasPrefix(lines.Text(), `{"time":"`), lines.Text())
		var line map[string]any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		kind := line["type"].(string)
		require.Contains(t, fields, kind)
		for _, field := range fields[kind] {
			require.Contains(t, line, field, kind)
		}
		seen[kind] = true
		if kind == "stage" {
			require.NotNil(t, line["requires"], "a list, also when it is empty")
			stages = append(stages, line["name"].(string)+" "+line["status"].(string))
		}
	}
	require.Len(t, seen, len(fields))
	require.Equal(t, []string{
		"K8S_CANARY_ROLLOUT SUCCESS", "WAIT SUCCESS", "WAIT_APPROVAL RUNNING", "K8S_PRIMARY_ROLLOUT NOT_STARTED",
		"K8S_CANARY_CLEAN NOT_STARTED", "K8S_ROLLBACK NOT_STARTED",
		"WAIT_APPROVAL SUCCESS", "K8S_PRIMARY_ROLLOUT FAILURE", "K8S_CANARY_CLEAN CANCELLED", "K8S_ROLLBACK SUCCESS",
	}, stages)
}

func TestResultIsTheLastLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, reader.Result(&out, 1, "the deployment of hello-world failed"))
	require.Regexp(t,
		`^\{"time":"[^"]+Z","type":"result","schema":1,"exit_code":1,`+
			`"reason":"the deployment of hello-world failed"\}\n$`,
		out.String())
}

func TestRepeatedFactsAreNotReportedAgain(t *testing.T) {
	t.Parallel()
	d := reader.NewDiffer()
	publish := func(objects ...proto.Message) (changes []reader.Change) {
		for _, event := range decktest.Events(objects...) {
			changes = append(changes, d.Apply(event)...)
		}
		return changes
	}
	block := &deckv1.LogBlock{DeploymentId: "dep-1", StageId: "s3", Text: "a", Index: 0}
	require.NotEmpty(t, publish(decktest.Running()...))
	require.Len(t, publish(block, &deckv1.Synced{}), 1)
	require.Empty(t, publish(append(append([]proto.Message{&deckv1.Reset{}}, decktest.Running()...), block,
		&deckv1.Synced{})...))

	busy := decktest.Plugins()[0]
	busy.CpuPercent, busy.RssBytes = 99, 1<<30
	require.Empty(t, publish(busy), "figures alone are no event")
	busy.Restarts = 1
	require.Len(t, publish(busy), 1)
	busy.Detail = "its changed program does not start"
	require.Len(t, publish(busy), 1, "what a running plugin has to report")

	busy.Held, busy.Detail = true, "held by a debugger at stage.go:57"
	require.Len(t, publish(busy), 1)
	busy.Detail = "held by a debugger at stage.go:58"
	require.Empty(t, publish(busy), "its author goes from line to line")
	busy.Held, busy.Detail = false, "runs under a debugger"
	require.Len(t, publish(busy), 1)

	part := decktest.Component(2, "Kubernetes", "compiling 1 of 820")
	require.Len(t, publish(part), 0+1)
	part.Detail = "compiling 2 of 820"
	require.Empty(t, publish(part), "progress alone is no event")

	again := decktest.Canary()
	again.Stages[2].Retries = 1
	changes := publish(again)
	require.Len(t, changes, 1)
	require.Equal(t, reader.Stage, changes[0].Kind)
}

func TestReadingEndsWithTheEnvironment(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment())
	server.End()
	require.ErrorIs(t, reader.Plain(context.Background(), server.Dial(t), io.Discard, reader.Options{}),
		reader.ErrEnded)
}

func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment())
	ctx, cancel := context.WithCancel(context.Background())
	err := reader.Plain(ctx, server.Dial(t), io.Discard, reader.Options{OnChange: func(reader.Change) { cancel() }})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAWriterThatFailsEndsReading(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment())
	_, closed := io.Pipe()
	require.NoError(t, closed.Close())
	require.ErrorIs(t, reader.Plain(context.Background(), server.Dial(t), closed, reader.Options{}), io.ErrClosedPipe)
}

func TestNamesCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]read{"plain": reader.Plain, "sentences": reader.Sentences} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			d := decktest.Failed()
			d.ApplicationName, d.Stages[2].Name, d.StatusReason = "a\x1b[2Jpp", "S\x1b]0;x\x07TAGE", "because\r\x1b[1A"
			d.Commit.Message = "\x1bcmessage"
			server.Publish(d, &deckv1.LogBlock{DeploymentId: "dep-1", StageId: "s3", Text: "x\x1b[31my"})
			var out bytes.Buffer
			err := to(context.Background(), server.Dial(t), &out,
				reader.Options{Until: func(*state.Deck) bool { return true }})
			require.NoError(t, err)
			require.NotContains(t, out.String(), "\x1b")
			require.NotContains(t, out.String(), "\r")
			require.Contains(t, out.String(), "STAGE")
		})
	}
}

func TestProgressAndTargetsAreStageLinesOfJSON(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	canary := decktest.Canary()
	running := proto.Clone(canary).(*deckv1.Deployment)
	stage := running.GetStages()[0]
	stage.Progress = &deckv1.StageProgress{Done: 3, Total: 10, Text: "pods"}
	stage.Targets = []*deckv1.StageTarget{{Name: "east", Status: deckv1.StageStatus_STAGE_STATUS_FAILURE,
		Detail: "no route"}}
	server.Publish(decktest.Environment(), decktest.Application(), canary)
	server.Publish(running)
	server.Publish(decktest.Failed())
	var out bytes.Buffer
	require.NoError(t, reader.JSON(t.Context(), server.Dial(t), &out, reader.Options{Until: ended}))
	found := 0
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, `"progress"`) {
			found++
			require.Contains(t, line, `"type":"stage"`)
			require.Contains(t, line,
				`"progress":{"done":3,"total":10,"text":"pods"},"targets":[{"name":"east","status":"FAILURE",`+
					`"detail":"no route"}]`)
		}
	}
	require.Equal(t, 1, found, out.String())
}

func TestTheNamedApproversAreSaidWithTheCommand(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	d := decktest.Canary()
	d.Stages[2].Approvers = []string{"alice", "bob"}
	server.Publish(decktest.Environment(), decktest.Application(), d)
	for want, follow := range map[string]func(context.Context, deckv1.DeckServiceClient, io.Writer,
		reader.Options) error{
		"stage        hello-world WAIT_APPROVAL  WAITS FOR APPROVAL by alice or bob  -> pipedeck approve " +
			"hello-world WAIT_APPROVAL --as alice --name demo": reader.Plain,
		"Stage WAIT_APPROVAL of hello-world waits for approval by alice or bob. To approve it, run: pipedeck " +
			"approve hello-world WAIT_APPROVAL --as alice --name demo": reader.Sentences,
	} {
		var out strings.Builder
		require.NoError(t, follow(t.Context(), server.Dial(t), &out, reader.Options{
			Flags: " --name demo", Until: func(d *state.Deck) bool { return d.Synced() },
		}))
		require.Contains(t, out.String(), want)
	}
}

func TestAnApplicationThatAnswersSaysWhere(t *testing.T) {
	t.Parallel()
	const at = "http://127.0.0.1:13579"
	for want, to := range map[string]read{
		"application  hello-world  SYNCED  HEALTHY  answers at " + at:         reader.Plain,
		"Application hello-world is in sync and healthy and answers at " + at: reader.Sentences,
		`"url":"` + at + `"`: reader.JSON,
	} {
		server := decktest.Start(t)
		app := decktest.Application()
		app.Sync = deckv1.SyncStatus_SYNC_STATUS_SYNCED
		server.Publish(app)
		answering := proto.CloneOf(app)
		answering.Url = at
		server.Publish(answering)
		var out bytes.Buffer
		require.NoError(t, to(t.Context(), server.Dial(t), &out, reader.Options{Until: func(d *state.Deck) bool {
			return len(d.Applications()) > 0 && d.Applications()[0].GetUrl() != ""
		}}))
		require.Contains(t, out.String(), want)
	}
}

func TestWhoOnlyLooksReadsNoCommandThatChanges(t *testing.T) {
	t.Parallel()
	d := decktest.Canary()
	d.Stages[1].Status, d.Stages[1].Pause = deckv1.StageStatus_STAGE_STATUS_RUNNING,
		&deckv1.StagePause{When: deckv1.Breakpoint_WHEN_BEFORE}
	for name, follow := range map[string]read{"plain": reader.Plain, "sentences": reader.Sentences} {
		server := decktest.Start(t)
		server.Publish(decktest.Environment(), decktest.Application(), d)
		var out bytes.Buffer
		require.NoError(t, follow(t.Context(), server.Dial(t), &out, reader.Options{
			ReadOnly: true, Until: func(d *state.Deck) bool { return d.Synced() },
		}), name)
		require.Contains(t, strings.ToLower(out.String()), "waits for approval", name)
		require.Contains(t, out.String(), "paused", name)
		for _, command := range []string{"pipedeck ", "->", "To approve it", "To go on"} {
			require.NotContains(t, out.String(), command, name)
		}
	}
}
