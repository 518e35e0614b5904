// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

// remembered is a call as piped shows it.
func remembered(t *testing.T, id, method string, to deckv1.PluginCall_Direction,
	request, response proto.Message) *deckv1.PluginCall {
	t.Helper()
	call := &deckv1.PluginCall{
		Id: id, StartedAt: decktest.At(10), Direction: to, Plugin: "wait", Method: method, Build: "abcdef012345",
		Code: "OK", Duration: durationpb.New(30 * time.Millisecond), PipedId: "piped-1",
		RequestBytes: int64(proto.Size(request)), ResponseBytes: int64(proto.Size(response)),
		RequestJson: plugincalls.Readable(request), ResponseJson: plugincalls.Readable(response),
	}
	call.DeploymentId, call.StageId, call.StageName = plugincalls.Subject(request)
	var err error
	call.Request, err = proto.Marshal(request)
	require.NoError(t, err)
	call.Response, err = proto.Marshal(response)
	require.NoError(t, err)
	return call
}

// waited is a stage of the plugin wait as piped remembers it.
func waited(t *testing.T, log string) []*deckv1.PluginCall {
	t.Helper()
	const to, from = deckv1.PluginCall_DIRECTION_TO_PLUGIN, deckv1.PluginCall_DIRECTION_TO_PIPED
	request := standin.ExecuteRequest("wait", nil, "WAIT", `{"duration":"20ms"}`)
	stage, of := request.GetInput().GetStage().GetId(), request.GetInput().GetDeployment().GetId()
	execute := remembered(t, "3f2a-2", deployment.DeploymentService_ExecuteStage_FullMethodName, to, request,
		&deployment.ExecuteStageResponse{Status: model.StageStatus_STAGE_SUCCESS})
	execute.Detail = "SUCCESS"
	other := remembered(t, "3f2a-1", deployment.DeploymentService_FetchDefinedStages_FullMethodName, to,
		&deployment.FetchDefinedStagesRequest{}, &deployment.FetchDefinedStagesResponse{Stages: []string{"WAIT"}})
	put := func(id, key, value string) *deckv1.PluginCall {
		return remembered(t, id, pluginservice.PluginService_PutStageMetadata_FullMethodName, from,
			&pluginservice.PutStageMetadataRequest{DeploymentId: of, StageId: stage, Key: key, Value: value},
			&pluginservice.PutStageMetadataResponse{})
	}
	return []*deckv1.PluginCall{other, execute, put("3f2a-3", "startTime", "2026-08-20T12:00:10Z"),
		put("3f2a-4", "pipecd/stage-display-metadata", "Until 12:00:10 UTC"), remembered(t, "3f2a-10",
			pluginservice.PluginService_ReportStageLogsFromLastCheckpoint_FullMethodName, from,
			&pluginservice.ReportStageLogsFromLastCheckpointRequest{
				DeploymentId: of, StageId: stage, Completed: true, Blocks: []*model.LogBlock{
					{Index: 1, Log: "Waiting for 20ms, until 12:00:10"},
					{Index: 2, Log: log, Severity: model.LogSeverity_SUCCESS},
				},
			}, &pluginservice.ReportStageLogsFromLastCheckpointResponse{})}
}

// callsEnvironment is a running environment whose piped remembers calls.
func callsEnvironment(t *testing.T, calls ...*deckv1.PluginCall) (stateDir string) {
	t.Helper()
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), decktest.Application(), decktest.Canary(),
		&deckv1.Plugin{Name: "wait", PipedId: "piped-1", State: deckv1.Plugin_STATE_RUNNING}, &deckv1.Synced{})
	server.PluginCall(calls...)
	return clitest.Running(t, server.Address())
}

func TestCallsAreListedAndShown(t *testing.T) {
	t.Parallel()
	calls := waited(t, "Waited for 20ms")
	unfinished := proto.CloneOf(calls[1])
	unfinished.Id, unfinished.Code, unfinished.Duration, unfinished.Detail = "3f2a-11", "", nil, ""
	stateDir := callsEnvironment(t, append(calls, unfinished)...)
	code, stdout, stderr := command(t.Context(), stateDir, "plugin", "calls")
	require.Zero(t, code, stderr)
	lines := strings.Split(stdout, "\n")
	require.Regexp(t, `^ID +TIME +PLUGIN +CALL +STAGE +TOOK +REQUEST +ANSWER +CODE +DETAIL`, lines[0])
	require.Regexp(t, `^3f2a-1 .* wait +> FetchDefinedStages +- +30ms +- +6 B +OK`, lines[1])
	require.Regexp(t, `^3f2a-2 .* wait +> ExecuteStage +WAIT +30ms .* OK +SUCCESS`, lines[2])
	require.Regexp(t, `^3f2a-10 .* wait +< ReportStageLogsFromLastCheckpoint `, lines[5])
	require.Regexp(t, `^3f2a-11 .* wait +> ExecuteStage +WAIT +- .* running`, lines[6])

	code, stdout, stderr = command(t.Context(), stateDir, "plugin", "calls", "3f2a-10")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "call        plugin wait to piped\n")
	require.Contains(t, stdout, "\n    log: Waited for 20ms\n")
	code, stdout, stderr = command(t.Context(), stateDir, "plugin", "calls", "wait", "-o", "json")
	require.Zero(t, code, stderr)
	var list document.PluginCalls
	clitest.Document(t, "plugin-calls", stdout, &list)
	require.Len(t, list.Calls, 6)
	require.Equal(t, "TO_PIPED", list.Calls[4].Direction)
	require.Nil(t, list.Calls[4].Request)
	require.InDelta(t, 30, list.Calls[4].Millis, 0.1)
	code, stdout, stderr = command(t.Context(), stateDir, "plugin", "calls", "3f2a-1", "-o", "json")
	require.Zero(t, code, stderr)
	clitest.Document(t, "plugin-calls", stdout, &list)
	require.JSONEq(t, `{"stages":["WAIT"]}`, string(list.Calls[0].Response))

	for line, want := range map[string]string{
		"plugin calls 3f2a-9": "piped does not remember a call 3f2a-9\n" +
			"next step: list those that it remembers with: pipedeck plugin calls",
		"plugin calls wiat":         `did you mean`,
		"plugin calls --stage NONE": `no deployment has a stage "NONE"`,
		"plugin calls --as curl": "--as \"curl\" is unknown\n" +
			"next step: use --as grpcurl, --as gotest, --as recording",
		"plugin calls --as recording":       "--as recording needs a file\nnext step: name it with --file",
		"plugin calls --as grpcurl":         "needs one call",
		"plugin calls --file x":             "--file is the file of --as",
		"plugin calls --as grpcurl -o json": "--as prints one call",
	} {
		code, _, stderr := command(t.Context(), stateDir, strings.Fields(line)...)
		require.Equal(t, exit.WrongUsage, code, line)
		require.Contains(t, stderr, want, line)
	}
}

func TestAFollowerOfCallsHearsThatPipedHasEnded(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), &deckv1.Synced{})
	server.PluginCall(waited(t, "Waited for 20ms")...)
	stateDir := clitest.Running(t, server.Address())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		code, stdout, stderr := command(t.Context(), stateDir, "plugin", "calls", "-f", "-o", "json")
		if code != exit.NotStarted || !strings.Contains(stderr, "piped has ended") {
			t.Errorf("exit %d: %s", code, stderr)
		}
		var line document.PluginCallLine
		if err := json.Unmarshal([]byte(strings.Split(stdout, "\n")[1]), &line); err != nil ||
			line.Type != "plugin_call" || line.ID != "3f2a-2" || len(line.Request) < 10 {
			t.Errorf("%v: %s", err, stdout)
		}
	}()
	server.AwaitFollower(t)
	server.End()
	<-ended
}

func TestACallIsExported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stateDir := callsEnvironment(t, waited(t, "Waited for 20ms")...)
	code, stdout, stderr := command(t.Context(), stateDir, "plugin", "calls", "3f2a-2", "--as", "grpcurl")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "grpcurl -plaintext -protoset plugin.pb -d @ \"$PLUGIN_ADDRESS\" "+
		"grpc.plugin.deploymentapi.v1alpha1.DeploymentService/ExecuteStage <<'REQUEST'\n{\n  \"input\": {\n")

	wait := buildtest.Program(t, "../../../plugins/wait")
	file := filepath.Join(dir, "calls.jsonl")
	code, _, stderr = command(t.Context(), stateDir, "plugin", "calls", "3f2a-10", "--as", "recording", "--file", file)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "wrote 4 calls to "+file)
	code, stdout, stderr = command(t.Context(), stateDir, "plugin", "replay", file, wait)
	require.Zero(t, code, stdout+stderr)
	require.Contains(t, stdout, "same     1 ExecuteStage WAIT\nsame     reports of stage WAIT\n")

	code, _, stderr = command(t.Context(), stateDir, "plugin", "record", "wait", "--file", file)
	require.Zero(t, code, stderr)
	code, stdout, stderr = command(t.Context(), stateDir, "plugin", "show", file, "-o", "json")
	require.Zero(t, code, stderr)
	var shown document.PluginCalls
	clitest.Document(t, "plugin-calls", stdout, &shown)
	require.Len(t, shown.Calls, 5)
	require.Equal(t, "WAIT", shown.Calls[1].StageName)
	code, stdout, stderr = command(t.Context(), stateDir, "plugin", "show", file)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "\nanswer, 6 B:\nstages:\n  - WAIT\n")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"),
		[]byte("package main\n\nfunc main() { sdk.Main(sdk.ForStages(&waiter{})) }\n"), 0o600))
	test := filepath.Join(dir, "wait_test.go")
	code, _, stderr = command(t.Context(), stateDir, "plugin", "calls", "3f2a-2", "--as", "gotest", "--file", test)
	require.Zero(t, code, stderr)
	source, err := os.ReadFile(test)
	require.NoError(t, err)
	require.Contains(t, string(source), "func TestWaitAsRecorded(t *testing.T) {\n"+
		"\tsdktest.ReplayFile(t, sdk.ForStages(&waiter{}), \"testdata/wait.jsonl\", sdktest.ReplayOptions{})\n}\n")
	recorded, err := os.ReadFile(filepath.Join(dir, "testdata", "wait.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(recorded), `"format":1`)

	code, _, stderr = command(t.Context(), stateDir, "plugin", "calls", "3f2a-2", "--as", "gotest", "--file",
		filepath.Join(dir, "again"))
	require.Zero(t, code, stderr)
	again, err := os.ReadFile(filepath.Join(dir, "again_test.go"))
	require.NoError(t, err)
	require.Contains(t, string(again), "// TestAgainAsRecorded replays the stage WAIT to the plugin")
	require.FileExists(t, filepath.Join(dir, "testdata", "again.jsonl"))
	code, _, stderr = command(t.Context(), stateDir, "plugin", "calls", "3f2a-2", "--as", "gotest", "--file",
		filepath.Join(dir, "other.go"))
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "other_test.go\n")
}

func TestTheNameOfATestIsOfItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, one := range [][2]string{
		{"hi_test.go", "TestHiAsRecorded"}, {"after-kill_test.go", "TestAfterKillAsRecorded"},
		{"after_kill_test.go", "TestAfterKillAsRecorded2"}, {"afterKill_test.go", "TestAfterKillAsRecorded3"},
		{"ärger 2_test.go", "TestÄrger2AsRecorded"}, {"_test.go", "TestAsRecorded"},
		{"hi_test.go", "TestHiAsRecorded"}, // the file is replaced
	} {
		file := filepath.Join(dir, one[0])
		require.Equal(t, one[1], testName(file))
		require.NoError(t, os.WriteFile(file, []byte(goTest(file, "HI", "hi.jsonl")), 0o600))
		_, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.AllErrors)
		require.NoError(t, err)
	}
}

func TestACallThatPipedCouldNotKeepIsNotExported(t *testing.T) {
	t.Parallel()
	calls := waited(t, "Waited for 20ms")
	calls[1].RequestClipped = true
	stateDir := callsEnvironment(t, calls...)
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	for _, form := range []string{"grpcurl", "recording"} {
		code, _, stderr := command(t.Context(), stateDir, "plugin", "calls", "3f2a-2", "--as", form, "--file", file)
		require.Equal(t, exit.WrongUsage, code)
		require.Contains(t, stderr, "is too long for piped to remember\n"+
			"next step: record it with: pipedeck plugin record")
	}
}

func TestARecordingOfANewerFormIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(`{"link":"recording","format":7}`+"\n"), 0o600))
	for _, line := range [][]string{{"plugin", "show", file}, {"plugin", "replay", file, os.Args[0]}} {
		code, _, stderr := command(t.Context(), t.TempDir(), line...)
		require.Equal(t, exit.WrongUsage, code)
		require.Contains(t, stderr, "line 1: the recording has format 7; formats up to 1 are known\n"+
			"next step: read it with a newer pipedeck\n")
	}
}
