// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/system/logtest"
)

var testPlugin string

func TestMain(m *testing.M) {
	if settings := os.Getenv(hostVariable); settings != "" {
		fmt.Fprintln(os.Stderr, runHost(settings))
		os.Exit(1)
	}
	plugintest.Main(m, &testPlugin)
}

const wait = time.Minute

type settings map[string]any

func entry(t *testing.T, name string, s settings) config.Plugin {
	t.Helper()
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return config.Plugin{Name: name, URL: "file://" + testPlugin, Config: data}
}

// start runs a host until the end of the test.
func start(t *testing.T, change func(*pluginhost.Options), plugins ...config.Plugin) *pluginhost.Host {
	t.Helper()
	options := pluginhost.Options{
		Plugins: plugins, BinaryDir: t.TempDir(), ServiceAddress: "localhost:1",
		GracePeriod: 2 * time.Second, RestartPause: time.Millisecond,
	}
	if change != nil {
		change(&options)
	}
	host, err := pluginhost.New(options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- host.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return host
}

func settle(t *testing.T, host *pluginhost.Host) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	require.NoError(t, host.Settled(ctx))
}

// await waits until the only plugin's status is as wanted.
func await(t *testing.T, host *pluginhost.Host, wanted func(*agentv1.Plugin) bool) *agentv1.Plugin {
	t.Helper()
	deadline := time.After(wait)
	for {
		changed := host.Changed()
		s := host.Status()[0]
		if wanted(s) {
			return s
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(t, "the plugin did not reach the wanted state", "%v", s)
		}
	}
}

func inState(state agentv1.Plugin_State) func(*agentv1.Plugin) bool {
	return func(s *agentv1.Plugin) bool { return s.GetState() == state }
}

func execute(ctx context.Context, p *pluginhost.Plugin, with string) (*deployment.ExecuteStageResponse, error) {
	return p.Deployment().ExecuteStage(ctx, stageOf(with))
}

func stageOf(with string) *deployment.ExecuteStageRequest {
	return &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment: &model.Deployment{}, Stage: &model.PipelineStage{}, StageConfig: []byte(with),
	}}
}

func TestPluginsStartAndOwnTheirStages(t *testing.T) {
	t.Parallel()
	host := start(t, nil,
		entry(t, "one", settings{"stages": []string{"A", "B"}}),
		entry(t, "two", settings{"stages": []string{"C"}, "start": "late", "delay": "200ms"}))
	owner, err := host.Owner(t.Context(), "C")
	require.NoError(t, err)
	require.Equal(t, "two", owner.Name())

	response, err := execute(t.Context(), owner, "{}")
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, response.GetStatus())

	host.Sample()
	for _, s := range host.Status() {
		require.Equal(t, agentv1.Plugin_STATE_RUNNING, s.GetState())
		require.NotZero(t, s.GetPid())
		require.NotZero(t, s.GetRssBytes())
		require.Contains(t, s.GetLastOutput(), "hello from "+s.GetName())
	}
}

func TestUnknownStageNamesTheNearestAndTheKnownOnes(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "one", settings{"stages": []string{"WAIT", "SCRIPT_RUN"}}))
	_, err := host.Owner(t.Context(), "SCRIPTRUN")
	require.EqualError(
		t, err, `no plugin owns stage "SCRIPTRUN"; did you mean SCRIPT_RUN? (known stages: SCRIPT_RUN, WAIT)`,
	)
	_, err = host.Plugin("onee")
	require.EqualError(t, err, `no plugin is named "onee"; did you mean one? (plugins in the piped configuration: one)`)
}

func TestAPluginWithoutStagesIsNamed(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "one", settings{"stages": []string{"WAIT"}}), entry(t, "empty", settings{}))
	settle(t, host)
	_, err := host.Owner(t.Context(), "OTHER")
	require.ErrorContains(t, err, `plugin "empty" names no stages (FetchDefinedStages)`)
	require.NotContains(t, err.Error(), `plugin "one"`)
	require.Empty(t, host.Status()[0].GetDetail())
	require.Contains(t, host.Status()[1].GetDetail(), "it names no stages (FetchDefinedStages)")
}

func TestTwoPluginsWithOneStageAreBothNamed(t *testing.T) {
	t.Parallel()
	host := start(t, nil,
		entry(t, "one", settings{"stages": []string{"WAIT"}}), entry(t, "two", settings{"stages": []string{"WAIT"}}))
	settle(t, host)
	_, err := host.Owner(t.Context(), "WAIT")
	require.ErrorContains(t, err, `stage "WAIT" is claimed by the plugins one and two`)
	require.Contains(t, host.Status()[0].GetDetail(), "one and two")
}

func TestTheConfigurationSettlesWhoOwnsAStage(t *testing.T) {
	t.Parallel()
	first, second := entry(
		t, "wait-v1", settings{"stages": []string{"WAIT", "OTHER"}},
	), entry(t, "wait-v2", settings{"stages": []string{"WAIT"}})
	second.Stages = []string{"WAIT", "WAITT"}
	host := start(t, nil, first, second)
	settle(t, host)
	owner, err := host.Owner(t.Context(), "WAIT")
	require.NoError(t, err)
	require.Equal(t, "wait-v2", owner.Name())
	owner, err = host.Owner(t.Context(), "OTHER")
	require.NoError(t, err)
	require.Equal(t, "wait-v1", owner.Name())
	require.Empty(t, host.Status()[0].GetDetail())
	require.Contains(t, host.Status()[1].GetDetail(), `name "WAITT", which it does not offer`)
}

func TestPluginThatExitsAtOnceFailsWithItsLastOutputAndTheOthersWork(t *testing.T) {
	t.Parallel()
	host := start(t, nil,
		entry(
			t, "bad", settings{"stages": []string{"A"}, "start": "exit"},
		), entry(t, "good", settings{"stages": []string{"B"}}))
	settle(t, host)
	s := host.Status()[0]
	require.Equal(t, agentv1.Plugin_STATE_FAILED, s.GetState())
	require.Contains(t, s.GetDetail(), "exited with code 3")
	require.Contains(t, s.GetDetail(), "cannot find the moon")

	good, err := host.Owner(t.Context(), "B")
	require.NoError(t, err)
	_, err = execute(t.Context(), good, "{}")
	require.NoError(t, err)
	_, err = host.Owner(t.Context(), "A")
	require.ErrorContains(t, err, "cannot find the moon")
}

func TestPluginThatNeverAnswersFailsAtTheStartDeadline(t *testing.T) {
	t.Parallel()
	host := start(t, func(o *pluginhost.Options) { o.StartTimeout = 2 * time.Second },
		entry(t, "slow", settings{"start": "hang"}))
	s := await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), "did not answer")
	require.Contains(t, s.GetDetail(), "waiting for the moon")
	require.Zero(t, s.GetPid(), "no process is left")
}

func TestProblemsWithTheBinaryAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, []byte("x"), 0o600))
	garbage := filepath.Join(t.TempDir(), "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte("\x00\x01"), 0o700))
	for url, want := range map[string]string{
		"file:///no/such/plugin":        "there is no file /no/such/plugin",
		"file://" + plain:               "is not executable: run chmod +x",
		"file://" + garbage:             "start the binary of plugin",
		"http://plugins.example/plugin": "use https://",
		"plugin": `plugin "p": there is no plugin index; ` +
			`name one in the piped configuration: spec.pluginIndex`,
		"plugins/plugin": "has no known scheme",
	} {
		host := start(t, nil, config.Plugin{Name: "p", URL: url})
		settle(t, host)
		s := host.Status()[0]
		require.Equal(t, agentv1.Plugin_STATE_FAILED, s.GetState(), url)
		require.Contains(t, s.GetDetail(), want)
	}
}

func TestADamagedCopyOfABinaryIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := start(t, func(o *pluginhost.Options) { o.BinaryDir = dir }, entry(t, "p", settings{}))
	settle(t, host)
	copies, err := filepath.Glob(filepath.Join(dir, "p-*"))
	require.NoError(t, err)
	require.Len(t, copies, 1)
	whole, err := os.ReadFile(copies[0])
	require.NoError(t, err)
	damage := func(content []byte) {
		t.Helper()
		require.NoError(t, os.Remove(copies[0]))
		require.NoError(t, os.WriteFile(copies[0], content, 0o700))
	}
	for _, content := range [][]byte{whole[:len(whole)/2], bytes.Repeat([]byte{7}, len(whole))} {
		damage(content)
		before := host.Status()[0].GetPid()
		require.NoError(t, host.Restart("p"))
		await(t, host, func(s *agentv1.Plugin) bool {
			require.NotEqual(t, agentv1.Plugin_STATE_FAILED, s.GetState(), "the damaged copy was run")
			return s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetPid() != before
		})
	}
}

func TestABusyPortIsReportedBeforeTheStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	e := entry(t, "p", settings{})
	e.Port = taken.Addr().(*net.TCPAddr).Port
	host := start(t, nil, e)
	s := await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), fmt.Sprintf("port %d of plugin \"p\" is in use by %s", e.Port, listenerHere()))
}

// listenerHere is how errors name the owner of a port of this process.
func listenerHere() string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("process %d (pluginhost.test)", os.Getpid())
	}
	return "another process"
}

func TestCallEndsAtOnceWhenThePluginDiesAndThePluginComesBack(t *testing.T) {
	t.Parallel()
	host := start(t, nil, entry(t, "p", settings{"stages": []string{"A"}}))
	settle(t, host)
	before := host.Status()[0].GetPid()
	p, err := host.Plugin("p")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, `{"do":"crash"}`)
	var exit *pluginhost.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.Code)
	require.Equal(t, codes.Unavailable, status.Code(err))

	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	require.Eventually(
		t, func() bool { return p.WaitRunning(ctx) == nil && host.Status()[0].GetPid() != before }, wait,
		time.Millisecond,
	)
	require.EqualValues(t, 1, host.Status()[0].GetRestarts())
	_, err = execute(t.Context(), p, "{}")
	require.NoError(t, err)
}

func TestFiveCrashesInAMinuteNeedAUsersWord(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	host := start(t, nil, entry(t, "p", settings{"start": "once", "marker": marker, "stages": []string{"A"}}))
	settle(t, host)
	require.NoError(t, syscall.Kill(int(host.Status()[0].GetPid()), syscall.SIGKILL))
	s := await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	require.Contains(t, s.GetDetail(), "started before")
	require.Contains(t, s.GetDetail(), "quarantined after 5 failures within a minute")
	require.Contains(t, s.GetDetail(), "fix the program, or run: pipedeck restart p")

	p, err := host.Plugin("p")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, "{}")
	require.ErrorContains(t, err, "started before", "calls say why there is no process")

	require.NoError(t, os.Remove(marker))
	require.NoError(t, host.Restart("p"))
	await(t, host, inState(agentv1.Plugin_STATE_RUNNING))
}

func TestRestartInterruptsARunningStageAndTakesTheNewBinary(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "plugin")
	require.NoError(t, os.Link(testPlugin, binary))
	e := entry(t, "p", settings{"stages": []string{"A"}})
	e.URL = "file://" + binary
	host := start(t, func(o *pluginhost.Options) { o.NoReload = true }, e)
	settle(t, host)
	p, err := host.Plugin("p")
	require.NoError(t, err)
	touched := filepath.Join(t.TempDir(), "touched")
	result := make(chan error, 1)
	go func() {
		_, err := execute(t.Context(), p, fmt.Sprintf(`{"do":"touch","file":%q}`, touched))
		result <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(touched); return err == nil }, wait, time.Millisecond)

	data, err := os.ReadFile(testPlugin)
	require.NoError(t, err)
	require.NoError(t, os.Remove(binary))
	require.NoError(t, os.WriteFile(binary, append(data, 0), 0o700))
	before := host.Status()[0].GetPid()
	require.NoError(t, host.Restart("p"))
	var exit *pluginhost.ExitError
	require.ErrorAs(t, <-result, &exit)
	require.True(t, exit.Requested)
	s := await(t, host, func(s *agentv1.Plugin) bool {
		return s.GetState() == agentv1.Plugin_STATE_RUNNING && s.GetPid() != before
	})
	require.EqualValues(t, 1, s.GetRestarts())
}

func TestStopKillsWhatDoesNotEndByItself(t *testing.T) {
	t.Parallel()
	options := pluginhost.Options{
		Plugins: []config.Plugin{entry(t, "p", settings{"ignoreTerm": true})}, BinaryDir: t.TempDir(),
		GracePeriod: 200 * time.Millisecond,
	}
	host, err := pluginhost.New(options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- host.Run(ctx) }()
	settle(t, host)
	pid := int(host.Status()[0].GetPid())
	cancel()
	require.NoError(t, <-done)
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.Equal(t, agentv1.Plugin_STATE_STOPPED, host.Status()[0].GetState())
}

func TestOutputGoesIntoTheLogWithThePluginsName(t *testing.T) {
	t.Parallel()
	log := &logtest.Buffer{}
	host := start(t, func(o *pluginhost.Options) {
		o.Echo, o.Logger = true, slog.New(slog.NewTextHandler(log, nil))
		o.Mask = func(line string, _ bool) string { return strings.ReplaceAll(line, "hello", "******") }
	}, entry(t, "p", settings{}))
	settle(t, host)
	require.Eventually(t, func() bool {
		return strings.Contains(log.String(), `msg="plugin output" plugin=p line="****** from p"`)
	}, wait, time.Millisecond, log)
}

func TestOutputGoesToAFilePerPlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := start(t, func(o *pluginhost.Options) { o.LogDir = dir }, entry(t, "p", settings{}))
	settle(t, host)
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "p.log"))
		return err == nil && strings.Contains(string(data), "hello from p")
	}, wait, time.Millisecond)
}
