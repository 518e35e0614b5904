// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// The test binary plays the plugin's process when this is set to the kind of plugin.
const actAsEnv = "SDK_TEST_ACT_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(actAsEnv) {
	case "stages":
		sdk.Main(sdk.ForStages(stagePlugin{}))
	case "schema":
		sdk.Main(sdk.ForStages(stagePlugin{}).WithSchema([]byte(testSchema)))
	case "versioned":
		sdk.Main(sdk.ForStages(stagePlugin{}).WithVersion("v1.2-ours"))
	case "fleet":
		sdk.Main(sdk.ForDeployment(newFleet()))
	case "busy":
		sdk.Main(executing(func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
			go waitForMoon()
			return busyLoop(), nil
		}))
	case "stuck":
		sdk.Main(sdk.ForStages(stuckPlugin{}))
	default:
		os.Exit(m.Run())
	}
}

// process is a plugin as piped starts it.
type process struct {
	*exec.Cmd
	stderr *lockedBuffer
	parent *os.File // write end of the pipe to the plugin
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func startProcess(t *testing.T, kind string, settings map[string]any) *process {
	t.Helper()
	config, err := json.Marshal(settings)
	require.NoError(t, err)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	p := &process{
		Cmd:    exec.Command(os.Args[0], "start", "--piped-plugin-service", "localhost:1", "--config", string(config)),
		stderr: &lockedBuffer{}, parent: write,
	}
	p.Stderr = p.stderr
	p.Env = append(os.Environ(), actAsEnv+"="+kind, "PIPEDECK_PARENT_FD=3")
	p.ExtraFiles = []*os.File{read}
	require.NoError(t, p.Start())
	require.NoError(t, read.Close())
	t.Cleanup(func() {
		_ = write.Close()
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := standin.FreePort(t.Context())
	require.NoError(t, err)
	return port
}

// ready returns when the plugin answers.
func (p *process) ready(t *testing.T, port int) {
	t.Helper()
	conn, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	resp, err := deployment.NewDeploymentServiceClient(conn).FetchDefinedStages(ctx,
		&deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
	require.NoError(t, err, p.stderr)
	require.NotEmpty(t, resp.GetStages())
}

func TestAPluginIsReadyWithoutPipedAndEndsWithItsAgent(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := startProcess(t, "stages", map[string]any{"name": "test", "url": "file:///x", "port": port})
	p.ready(t, port)
	require.NoError(t, p.parent.Close())
	require.NoError(t, p.Wait(), p.stderr)
	require.Contains(t, p.stderr.String(), "the agent that started this plugin is gone")
}

func TestSIGTERMEndsAPluginCleanly(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := startProcess(t, "stages", map[string]any{"name": "test", "url": "file:///x", "port": port})
	p.ready(t, port)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait(), p.stderr)
}

func TestAPluginThatCannotStartSaysWhyAndExits(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, taken.Close()) })
	target := []map[string]any{{"name": "one", "config": map[string]any{"address": 5}}}
	for name, tc := range map[string]struct {
		kind     string
		settings map[string]any
		want     string
	}{
		"no deploy target": {"fleet", map[string]any{"name": "fleet"},
			"plugin fleet deploys but has no deploy target; add at least one under deployTargets"},
		"wrong deploy target": {"fleet", map[string]any{"name": "fleet", "deployTargets": target},
			`deploy target "one": config is not valid: address must be a string, not a number`},
		"invalid target": {"fleet",
			map[string]any{"name": "fleet", "deployTargets": []map[string]any{{"name": "one", "config": nil}}},
			"address is required"},
		"wrong config": {"fleet", map[string]any{"name": "fleet", "config": map[string]any{"region": true}},
			"region must be a string"},
		"no name": {"stages", map[string]any{}, "--config has no name"},
		"port of another": {"stages", map[string]any{"name": "test", "port": taken.Addr().(*net.TCPAddr).Port},
			"is in use by another process"},
		"port out of range": {"stages", map[string]any{"name": "test", "port": 70000},
			"port 70000 is not between 0 and 65535"},
		"config of wrong type": {"stages", map[string]any{"name": 7}, "name must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startProcess(t, tc.kind, tc.settings)
			err := p.Wait()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, 1, exit.ExitCode())
			require.Contains(t, p.stderr.String(), tc.want)
			require.Equal(t, 1, strings.Count(p.stderr.String(), tc.want), "said once")
		})
	}
}

func TestAStartThatFailsEndsTheProcess(t *testing.T) {
	t.Parallel()
	p := startProcess(t, "stuck", map[string]any{"name": "test", "url": "file:///x"})
	var exit *exec.ExitError
	require.ErrorAs(t, p.Wait(), &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, p.stderr.String(), "plugin test: start: the store is locked")
	require.Contains(t, p.stderr.String(), "and cannot be closed")
}

// deafPlugin plans until it is released, whatever becomes of the request.
type deafPlugin struct {
	stagePlugin
	planning, release chan struct{}
}

func (p deafPlugin) BuildPipelineStages(context.Context, *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	close(p.planning)
	<-p.release
	return nil, nil
}

func TestWorkThatCannotBeInterruptedDoesNotKeepAPluginAlive(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	plugin := deafPlugin{planning: make(chan struct{}), release: make(chan struct{})}
	defer close(plugin.release)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- sdk.Serve(ctx, sdk.ForStages(plugin), sdk.ServeOptions{
			Settings: sdk.Settings{Name: "deaf", URL: "file:///x"}, PipedAddress: "localhost:1", Listener: listener,
			GracePeriod: time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		})
	}()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = deployment.NewDeploymentServiceClient(conn).BuildPipelineSyncStages(t.Context(),
			&deployment.BuildPipelineSyncStagesRequest{
				Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: "TEST"}},
			}, grpc.WaitForReady(true))
	}()
	<-plugin.planning
	stop()
	require.ErrorContains(t, <-ended, "plugin deaf: requests go on after they were cancelled")
}

func TestFlagsOfOtherPluginsAreAccepted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := []string{"start", "--piped-plugin-service", "localhost:1", "--config",
		`{"name":"test","url":"file:///x","port":0}`}
	plugin := sdk.ForStages(stagePlugin{})
	more := []string{"--grace-period=1s", "--enable-grpc-reflection", "--log-level=debug", "--log-encoding=json",
		"--metrics=false", "--profile", "--profile-debug-logging", "--profiler-credentials-file=x"}
	require.NoError(t, sdk.Run(ctx, plugin, append(start, more...), io.Discard))
	require.ErrorContains(t, sdk.Run(ctx, plugin, append(start, "--log-level=loud"), io.Discard), "--log-level")
	require.ErrorContains(t, sdk.Run(ctx, plugin, append(start, "--log-encoding=xml"), io.Discard), "--log-encoding")
	require.ErrorContains(t, sdk.Run(ctx, plugin, append(start, "--tls"), io.Discard), "--cert-file")
	require.ErrorContains(t, sdk.Run(ctx, plugin, []string{"start"}, io.Discard), "required flags are missing: "+
		"--piped-plugin-service, --config")
	require.ErrorContains(t, sdk.Run(ctx, plugin, append(start, "extra"), io.Discard),
		`takes no arguments, but there is "extra"`)
	require.ErrorContains(t, sdk.Run(ctx, plugin, append(start, "--no-such-flag"), io.Discard), "no-such-flag")
	require.ErrorContains(t, sdk.Run(ctx, plugin, []string{"serve"}, io.Discard), `unknown command "serve"`)
	require.NoError(t, sdk.Run(ctx, plugin, append([]string{"--log-level", "debug"}, start...), io.Discard))
	for _, args := range [][]string{nil, {"help"}, {"-h"}, {"start", "--help"}} {
		var said strings.Builder
		require.NoError(t, sdk.Run(ctx, plugin, args, &said), "%v", args)
		require.Contains(t, said.String(),
			"--piped-plugin-service    host:port of piped's plugin service\n", "%v", args)
		require.NotContains(t, said.String(), "profiler", "what is ignored is not shown")
	}
}

// pair makes two connected sockets: a file for the process and a connection for the test.
func pair(t *testing.T) (*os.File, net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	ours := os.NewFile(uintptr(fds[0]), "ours")
	conn, err := net.FileConn(ours)
	require.NoError(t, err)
	require.NoError(t, ours.Close())
	return os.NewFile(uintptr(fds[1]), "theirs"), conn
}

func TestAPluginTakesTheLinkThatItsAgentOffers(t *testing.T) {
	t.Parallel()
	config, write, err := os.Pipe()
	require.NoError(t, err)
	serve, conn := pair(t)
	service, called := pair(t)
	p := &process{
		Cmd: exec.Command(os.Args[0], "start", "--piped-plugin-service", "localhost:1", "--config",
			`{"name":"public"}`),
		stderr: &lockedBuffer{},
	}
	p.Stderr = p.stderr
	p.Env = append(os.Environ(), actAsEnv+"=stages", "PIPEDECK_PLUGIN_LINK_V1=3,4,5")
	p.ExtraFiles = []*os.File{config, serve, service}
	require.NoError(t, p.Start())
	for _, f := range p.ExtraFiles {
		require.NoError(t, f.Close())
	}
	_, err = write.WriteString(`{"name":"private"}`)
	require.NoError(t, err)
	require.NoError(t, write.Close())

	client, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return conn, nil }))
	require.NoError(t, err)
	resp, err := deployment.NewDeploymentServiceClient(client).FetchDefinedStages(t.Context(),
		&deployment.FetchDefinedStagesRequest{}, grpc.WaitForReady(true))
	require.NoError(t, err)
	require.NotEmpty(t, resp.GetStages())
	// The plugin speaks HTTP/2 to piped from the start.
	preface := make([]byte, 3)
	_, err = io.ReadFull(called, preface)
	require.NoError(t, err)
	require.Equal(t, "PRI", string(preface))
	require.Contains(t, p.stderr.String(), "plugin=private")

	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait(), p.stderr)
	require.NoError(t, client.Close())
	require.NoError(t, called.Close())
}

func TestALinkThatIsNoneEndsTheProcess(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"3,4":      "want three descriptors",
		"1,2,3":    "want three descriptors",
		"90,91,92": "read the configuration from the agent",
	} {
		p := &process{Cmd: exec.Command(os.Args[0], "start", "--piped-plugin-service", "localhost:1", "--config", "{}"),
			stderr: &lockedBuffer{}}
		p.Stderr = p.stderr
		p.Env = append(os.Environ(), actAsEnv+"=stages", "PIPEDECK_PLUGIN_LINK_V1="+value)
		var exit *exec.ExitError
		require.ErrorAs(t, p.Run(), &exit)
		require.Equal(t, 1, exit.ExitCode())
		require.Contains(t, p.stderr.String(), want)
	}
}

// spins lets the loop work on something.
var spins atomic.Uint64

//go:noinline
func busyLoop() sdk.Result {
	for {
		spins.Add(1)
	}
}

//go:noinline
func waitForMoon() {
	for spins.Load() == 0 {
		runtime.Gosched()
	}
	fmt.Fprintln(os.Stderr, "the stage is busy")
	select {}
}

func TestTheStacksOfStagesAreWrittenAtSIGQUIT(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := startProcess(t, "busy", map[string]any{"name": "test", "url": "file:///x", "port": port})
	p.ready(t, port)
	conn, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	called := make(chan error, 1)
	go func() {
		_, err := deployment.NewDeploymentServiceClient(conn).ExecuteStage(t.Context(),
			standin.ExecuteRequest("test", nil, "TEST", "{}"))
		called <- err
	}()
	var exit *exec.ExitError
	require.Eventually(t, func() bool { return strings.Contains(p.stderr.String(), "the stage is busy") }, time.Minute,
		time.Millisecond)
	require.NoError(t, p.Process.Signal(syscall.SIGQUIT))
	require.ErrorAs(t, p.Wait(), &exit)
	require.Equal(t, 2, exit.ExitCode())
	require.Error(t, <-called)
	out := p.stderr.String()
	_, stack, found := strings.Cut(out, "stack of stage test:\n")
	require.True(t, found, out)
	stack, _, found = strings.Cut(stack, "end of the stack of stage test\n")
	require.True(t, found, out)
	require.Contains(t, stack, "sdk_test.busyLoop")
	require.Contains(t, stack, "process_test.go:")
	require.Contains(t, stack, "sdk_test.waitForMoon", "what the stage has started")
	require.NotContains(t, stack, "google.golang.org/grpc", "what called the stage")
	require.Contains(t, out, "SIGQUIT: all goroutines:")
}
