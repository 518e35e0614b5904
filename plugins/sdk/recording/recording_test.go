// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/recording"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// Started as piped starts plugins, the test binary is a plugin, or a recorder in front of one. Both are given what to
// be in the plugin's configuration.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "start" {
		os.Exit(m.Run())
	}
	var c config
	settings, err := sdk.ParseSettings(os.Args[5])
	if err == nil {
		err = json.Unmarshal(settings.Config, &c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if c.Record == "" || os.Getenv("RECORDED") != "" {
		sdk.Main(c.plugin())
		return
	}
	_ = os.Setenv("RECORDED", "1")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	recorder := &recording.Recorder{
		Program: os.Args[0], Args: os.Args[1:], Output: os.Stderr,
		Writer: recording.WriterOptions{File: c.Record, MaxBytes: c.Limit, Mask: func(text string) string {
			return strings.ReplaceAll(text, "hunter2hunter2", "******")
		}},
		Settle: func(s sdk.Settings) (json.RawMessage, error) {
			return json.Marshal(sdk.Settings{Name: s.Name, Config: json.RawMessage(`{"word":"one"}`)})
		},
	}
	if err := recorder.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type config struct {
	Word   string `json:"word"`
	Record string `json:"record"`
	Limit  int64  `json:"limit"`
	// Do are the steps of an actor; empty is a counter.
	Do string `json:"do"`
	// Late is how many milliseconds a counter takes before its first line.
	Late int `json:"late"`
}

// plugin is the one that the configuration asks for.
func (c config) plugin() sdk.Plugin {
	if c.Do != "" {
		return sdk.ForStages(actor{})
	}
	return sdk.ForStages(&counter{})
}

// counter is a plugin with a stage that waits for an approval and one that waits for ever.
type counter struct{}

var done sdk.StageKey[string] = "done"

func (*counter) Stages() []string { return []string{"COUNT", "HANG"} }

func (*counter) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config]) ([]sdk.Stage, error) {
	if len(req.Stages) > 1 {
		return nil, errors.New("one stage at most")
	}
	return sdk.CopyStages(req.Stages), nil
}

func (*counter) ExecuteStage(ctx context.Context, req *sdk.StageRequest[config]) (sdk.Result, error) {
	select {
	case <-time.After(time.Duration(req.Config.Late) * time.Millisecond):
	case <-ctx.Done():
		return sdk.Failure, sdk.StopCause(ctx)
	}
	req.Log.Infof("%s, hunter2hunter2", req.Config.Word)
	if req.Config.Word == "panic" && req.Stage.Name == "COUNT" {
		go func() { panic("a bug in COUNT") }()
		<-ctx.Done()
	}
	if req.Stage.Name == "HANG" {
		<-ctx.Done()
		return sdk.Failure, sdk.StopCause(ctx)
	}
	by := <-req.Client.Commands(ctx)
	req.Log.Successf("approved by %s", by.Commander)
	return sdk.Success, errors.Join(done.Put(ctx, req.Client, req.Config.Word+" hunter2hunter2"),
		sdk.DeploymentKey[sdk.Text]("by").Put(ctx, req.Client, sdk.Text(by.Commander)))
}

// record runs some calls through a recorder.
func record(t *testing.T, limit int64) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "calls.jsonl")
	h := wiretest.StartProgram(t, os.Args[0], wiretest.Options{Name: "counter",
		Config: config{Word: "one", Record: file, Limit: limit}})
	_, err := h.Plan(t.Context(), sdk.StageConfig{Name: "COUNT"}, sdk.StageConfig{Name: "HANG"})
	require.ErrorContains(t, err, "one stage at most")
	_, err = h.Plan(t.Context(), sdk.StageConfig{Name: "COUNT"})
	require.NoError(t, err)
	ended := h.Go(t.Context(), t, "COUNT", "{}")
	h.Piped.WaitLog(t, "count", "one, hunter2hunter2")
	h.Piped.Approve("count", "ada")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
	require.Equal(t, "one, hunter2hunter2\napproved by ada\n", h.Piped.Log("count"), "what is passed on is not masked")
	require.Equal(t, `"one hunter2hunter2"`, h.Piped.StageMetadata("count")["done"])
	ctx, cancel := context.WithCancel(t.Context())
	ended = h.Go(ctx, t, "HANG", "{}")
	h.Piped.WaitLog(t, "hang", "one")
	cancel()
	<-ended
	h.Piped.WaitLog(t, "hang", "the stage was cancelled")
	h.Piped.Wait(t, "the end of the log", func() bool { return h.Piped.Completed("hang") })
	require.NoError(t, h.Stop())
	return file
}

func read(t *testing.T, file string) *recording.Recording {
	t.Helper()
	data, err := os.Open(file)
	require.NoError(t, err)
	defer data.Close()
	rec, err := recording.Read(data, "")
	require.NoError(t, err)
	return rec
}

func replay(t *testing.T, rec *recording.Recording, config string) map[string][]recording.Difference {
	t.Helper()
	outcomes, err := recording.Replay(t.Context(), rec,
		recording.ReplayOptions{Start: func(piped *standin.Piped) (*standin.Program, error) {
			return standin.StartProgram(t.Context(), os.Args[0], "", piped.Address,
				sdk.Settings{Name: rec.Plugin, Config: json.RawMessage(config)}, t.Output())
		}})
	require.NoError(t, err)
	all := map[string][]recording.Difference{}
	for _, outcome := range outcomes {
		_, name, found := strings.Cut(outcome.Name, " ")
		if !found || strings.HasPrefix(outcome.Name, "reports") || strings.HasPrefix(outcome.Name, "what") {
			name = outcome.Name
		}
		all[name] = append(all[name], outcome.Differences...)
	}
	return all
}

func TestARecordedPluginDoesTheSameAgainAndAnotherIsDistinguished(t *testing.T) {
	t.Parallel()
	file := record(t, 0)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	rec := read(t, file)
	require.Equal(t, "counter", rec.Plugin)
	require.JSONEq(t, `{"name":"counter","url":"","port":0,"config":{"word":"one"}}`, string(rec.Settings))
	require.Empty(t, rec.Note)
	for _, call := range rec.Calls {
		require.NotContains(t, string(call.Request)+string(call.Response), "hunter2", call.Method)
	}
	require.NotContains(t, string(data), "hunter2")

	same := replay(t, rec, string(`{"word":"one"}`))
	for name, differences := range same {
		if name == "reports of stage COUNT" || name == "reports of stage HANG" {
			continue // the secret was masked in the recording, and this plugin writes it
		}
		require.Empty(t, differences, name)
	}
	require.Contains(t, same, "ExecuteStage HANG")
	require.Len(t, same["reports of stage COUNT"], 2)
	require.Contains(t, same["reports of stage COUNT"][0].Recorded, "one, ******\nsuccess: approved by ada\n")
	require.Contains(t, same["reports of stage COUNT"][0].Replayed, "one, hunter2hunter2\nsuccess: approved by ada\n")

	other := replay(t, rec, string(`{"word":"two"}`))
	require.Contains(t, other["reports of stage COUNT"][1].Replayed, `done: "two`)
	require.Equal(t, "metadata", other["reports of stage COUNT"][1].What)
}

func TestAnInterruptedStageIsComparedUpToItsInterruption(t *testing.T) {
	t.Parallel()
	rec := read(t, record(t, 0))
	at := slices.IndexFunc(rec.Calls, func(c recording.Call) bool {
		return strings.HasSuffix(c.Method, "/ExecuteStage") && c.Code == "OK"
	})
	require.Empty(t, rec.Interruptions())
	whole := slices.Clone(rec.Calls)
	// The process ended when the stage had written its first line.
	cut := slices.Clone(whole[:at+2])
	cut[at].Code, cut[at].Message, cut[at].Response = "Unavailable", "error reading from server: EOF", nil
	reported := slices.IndexFunc(whole, func(c recording.Call) bool {
		return strings.HasSuffix(c.Method, "ReportStageLogs")
	})
	require.Greater(t, reported, at)
	cut = slices.Concat(whole[:at], cut[at:at+1], whole[reported:reported+1])
	rec.Calls = cut
	require.Len(t, rec.Interruptions(), 1)
	require.Contains(t, rec.Interruptions()[0], "attempt 1 at stage COUNT, ends in an interruption: Unavailable: "+
		"error reading from server: EOF; a replay compares what was reported before that")
	same := replay(t, rec, `{"word":"one"}`)
	require.Contains(t, same, "ExecuteStage COUNT up to its interruption")
	for name, differences := range same {
		for _, d := range differences {
			require.Equal(t, "one, ******\n", d.Recorded, "%s: only the masked secret: %v", name, d)
			require.Equal(t, "one, hunter2hunter2\n", d.Replayed)
		}
	}
	other := replay(t, rec, `{"word":"two"}`)
	require.Contains(t, other["reports of stage COUNT"][0].Replayed, "two")

	// Its next attempt went through.
	rec.Calls = slices.Concat(cut, whole[at:])
	require.Contains(t, rec.Interruptions()[0], "a replay plays its next attempt instead")
	again := replay(t, rec, `{"word":"one"}`)
	require.Contains(t, again, "ExecuteStage COUNT")
	require.NotContains(t, again, "ExecuteStage COUNT up to its interruption")
	require.Len(t, again["reports of stage COUNT"], 2, "as without the interruption")
}

func TestAPluginThatEndsByItselfIsComparedInTheOtherCalls(t *testing.T) {
	t.Parallel()
	rec := read(t, record(t, 0))
	same, other := replay(t, rec, `{"word":"one"}`), replay(t, rec, `{"word":"panic"}`)
	require.Equal(t, len(same), len(other), "all calls and reports")
	differences := other["ExecuteStage COUNT"]
	require.Len(t, differences, 2)
	require.Equal(t, "status", differences[0].What)
	require.Contains(t, differences[1].Replayed,
		"it ended by itself: exit status 2\npanic: a bug in COUNT\n\ngoroutine ")
	require.Empty(t, other["ExecuteStage HANG"], "by a new process")
	require.NotEmpty(t, other["reports of stage COUNT"])
	require.Equal(t, same["reports of stage HANG"][0].Recorded, other["reports of stage HANG"][0].Recorded)
}

func TestTheCallsAfterAnInterruptionAreReplayed(t *testing.T) {
	t.Parallel()
	rec := read(t, record(t, 0))
	for i := range rec.Calls {
		if strings.HasSuffix(rec.Calls[i].Method, "/ExecuteStage") && rec.Calls[i].Code == "OK" {
			rec.Calls[i].Code, rec.Calls[i].Message, rec.Calls[i].Response = "Unavailable", "EOF", nil
		}
	}
	for _, word := range []string{"one", "panic"} { // the plugin goes on, or ends by itself as it did there
		same := replay(t, rec, `{"word":"`+word+`"}`)
		require.Contains(t, same, "ExecuteStage COUNT up to its interruption")
		require.Empty(t, same["ExecuteStage COUNT up to its interruption"])
		require.Contains(t, same, "ExecuteStage HANG")
		require.Empty(t, same["ExecuteStage HANG"])
	}
}

func TestARecordingHasALimitAndSaysSo(t *testing.T) {
	t.Parallel()
	rec := read(t, record(t, 2_000))
	require.Contains(t, rec.Note, "calls are missing: the recording reached its limit of 2000 bytes")
}

func TestAFileThatIsNotARecordingIsReported(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":        "holds no call",
		"{":       "line 1 is not a call",
		"\n[1]\n": "line 2 is not a call",
		`{"link":"piped>a","method":"/x"}` + "\n" + `{"link":"piped>b","method":"/x"}`: "several plugins: a, b",
		`{"link":"piped>a","req":"?"}`:    "line 1",
		`{"link":"recording","format":2}`: "line 1: the recording has format 2; formats up to 1 are known",
	} {
		_, err := recording.Read(strings.NewReader(text), "")
		require.ErrorContains(t, err, says, text)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(
		`{"seq":1,"link":"piped>wait",` +
			`"method":"/grpc.plugin.deploymentapi.v1alpha1.DeploymentService/FetchDefinedStages","code":"OK",` +
			`"req":"","resp":"CgRXQUlU"}`))
	f.Add([]byte(`{"link":"recording","plugin":"p","settings":{}}` + "\n" +
		`{"link":"p>piped","method":"/m","code":"OK","req":"AA=="}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := recording.Read(strings.NewReader(string(data)), "")
		if err == nil && len(rec.Calls) == 0 {
			t.Error("a recording without calls was taken")
		}
	})
}

// TestReplayedFile is run by the next test.
func TestReplayedFile(t *testing.T) {
	if os.Getenv("REPLAY_FILE") != "" {
		sdktest.ReplayFile(t, sdk.ForStages(&counter{}), os.Getenv("REPLAY_FILE"), sdktest.ReplayOptions{
			Config: config{Word: os.Getenv("REPLAY_WORD")}, Ignore: []string{"hunter2hunter2", `\*{6}`},
		})
	}
}

func TestReplayFileFailsExactlyWhereTheCommandShowsADifference(t *testing.T) {
	t.Parallel()
	file := record(t, 0)
	for word, differences := range map[string]bool{"one": false, "two": true} {
		outcomes, err := recording.Replay(t.Context(), read(t, file), recording.ReplayOptions{
			Ignore: []*regexp.Regexp{regexp.MustCompile("hunter2hunter2"), regexp.MustCompile(`\*{6}`)},
			Start: func(piped *standin.Piped) (*standin.Program, error) {
				return standin.StartProgram(t.Context(), os.Args[0], "", piped.Address,
					sdk.Settings{Name: "counter", Config: json.RawMessage(`{"word":"` + word + `"}`)}, t.Output())
			}})
		require.NoError(t, err)
		var want []string
		for _, outcome := range outcomes {
			if len(outcome.Differences) > 0 {
				want = append(want, strings.ReplaceAll(outcome.Name, " ", "_"))
			}
		}
		require.Equal(t, differences, len(want) > 0, "%v", want)

		test := exec.Command(os.Args[0], "-test.run", "^TestReplayedFile$", "-test.v")
		test.Env = append(os.Environ(), "REPLAY_FILE="+file, "REPLAY_WORD="+word)
		output, err := test.CombinedOutput()
		require.Equal(t, differences, err != nil, "%s", output)
		var got []string
		for line := range strings.Lines(string(output)) {
			if _, name, found := strings.Cut(line, "--- FAIL: TestReplayedFile/"); found {
				got = append(got, strings.Fields(name)[0])
			}
		}
		require.Equal(t, want, got, "%s", output)
		require.Equal(t, len(outcomes), strings.Count(string(output), "=== RUN   TestReplayedFile/"))
	}
}

func TestAPluginThatIsSlowerThanInTheRecordingIsCancelledAtTheSameLine(t *testing.T) {
	t.Parallel()
	rec := read(t, record(t, 0))
	late := replay(t, rec, `{"word":"one","late":1500}`)
	require.Len(t, late["reports of stage HANG"], 1)
	require.Equal(t, "one, ******\nthe stage was cancelled\n", late["reports of stage HANG"][0].Recorded)
	require.Equal(t, "one, hunter2hunter2\nthe stage was cancelled\n", late["reports of stage HANG"][0].Replayed,
		"but for the masked secret")
}
