// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	pipedhealth "github.com/pipedeck/pipedeck/piped/health"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/reattach"
)

// byHand is a plugin in another language, whose author starts it.
type byHand struct {
	t    *testing.T
	port int
}

func newByHand(t *testing.T) byHand {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return byHand{t, listener.Addr().(*net.TCPAddr).Port}
}

func (b byHand) target(plugin string) reattach.Target {
	return reattach.Target{Plugin: plugin, Address: fmt.Sprint("127.0.0.1:", b.port)}
}

// start starts the process, which ends with the test.
func (b byHand) start(s settings) *exec.Cmd {
	b.t.Helper()
	config, err := json.Marshal(map[string]any{"name": "p", "port": b.port, "config": s})
	require.NoError(b.t, err)
	command := exec.Command(testPlugin, "start", "--piped-plugin-service", "localhost:1", "--config", string(config))
	require.NoError(b.t, command.Start())
	b.t.Cleanup(func() { b.end(command) })
	return command
}

func (b byHand) end(command *exec.Cmd) {
	_ = command.Process.Kill()
	_ = command.Wait()
}

func attached(p *agentv1.Plugin) bool {
	return p.GetAttached() != "" && p.GetState() == agentv1.Plugin_STATE_RUNNING
}

func detached(p *agentv1.Plugin) bool {
	return p.GetAttached() == "" && p.GetState() == agentv1.Plugin_STATE_RUNNING
}

func TestAProcessThatItsAuthorHasStartedWorksInPlaceOfThePluginsOwn(t *testing.T) {
	t.Parallel()
	hand := newByHand(t)
	process := hand.start(settings{"stages": []string{"NEW"}})
	host := start(t, func(o *pluginhost.Options) { o.Reattach = []reattach.Target{hand.target("p")} },
		entry(t, "p", settings{"stages": []string{"OLD"}}))
	shown := await(t, host, attached)
	require.Equal(t, []string{"NEW"}, shown.GetStages())
	require.Zero(t, shown.GetRestarts())
	p, err := host.Owner(t.Context(), "NEW")
	require.NoError(t, err)
	_, err = execute(t.Context(), p, `{}`)
	require.NoError(t, err)

	hand.end(process)
	await(t, host, func(p *agentv1.Plugin) bool {
		return detached(p) && slices.Equal(p.GetStages(), []string{"OLD"})
	})
	shown = await(t, host, func(p *agentv1.Plugin) bool { return strings.HasPrefix(p.GetDetail(), "DETACHED at ") })
	require.Contains(t, shown.GetDetail(), "has ended; piped's own program runs again; start yours again, or run: "+
		"pipedeck plugin detach p")
	var problems []pipedhealth.Problem
	await(t, host, func(*agentv1.Plugin) bool {
		problems = host.Problems()
		return len(problems) > 0
	})
	require.Equal(t, "plugin p", problems[0].Part)
	require.Regexp(t, `^DETACHED at \S+: .* has ended; piped's own program runs again$`, problems[0].Reason)
	require.Equal(t, "start yours again, or run: pipedeck plugin detach p", problems[0].NextStep)

	hand.start(settings{"stages": []string{"NEW"}})
	await(t, host, attached)
	require.Empty(t, host.Problems())
}

func TestAPluginWithoutAProgramWorksWhileAProcessIsAttached(t *testing.T) {
	t.Parallel()
	hand := newByHand(t)
	own := entry(t, "p", settings{"stages": []string{"A"}})
	own.URL = "file:///missing"
	host := start(t, func(o *pluginhost.Options) { o.Reattach = []reattach.Target{hand.target("p")} }, own)
	await(t, host, inState(agentv1.Plugin_STATE_FAILED))
	process := hand.start(settings{"stages": []string{"A"}})
	await(t, host, attached)
	hand.end(process)
	await(t, host, inState(agentv1.Plugin_STATE_FAILED))
}

func TestUsersAttachAndDetachWhilePipedRuns(t *testing.T) {
	t.Parallel()
	hand := newByHand(t)
	file := filepath.Join(t.TempDir(), "targets.json")
	host := start(t, func(o *pluginhost.Options) { o.ReattachFile = file },
		entry(t, "p", settings{"stages": []string{"A"}}))
	await(t, host, detached)
	target := hand.target("p")
	require.NoError(t, reattach.WriteFile(file, "p", &target))
	await(t, host, func(p *agentv1.Plugin) bool {
		return strings.HasPrefix(p.GetDetail(), "waiting for a process at 127.0.0.1:")
	})
	process := hand.start(settings{"stages": []string{"A"}})
	await(t, host, attached)
	require.NoError(t, host.Restart("p"))
	await(t, host, attached)
	require.NoError(t, reattach.WriteFile(file, "p", nil))
	require.Zero(t, await(t, host, detached).GetRestarts())
	require.NoError(t, process.Process.Signal(syscall.Signal(0)), "it goes on")
}

// Debuggers of Python and Node stop a process without the system's knowledge.
func TestAnAttachedProcessThatDoesNotAnswerCountsAsHeld(t *testing.T) {
	t.Parallel()
	hand := newByHand(t)
	process := hand.start(settings{"stages": []string{"A"}})
	host := start(t, func(o *pluginhost.Options) { o.Reattach = []reattach.Target{hand.target("p")} },
		entry(t, "p", settings{"stages": []string{"B"}}))
	await(t, host, attached)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	require.NoError(t, process.Process.Signal(syscall.SIGSTOP))
	answered := make(chan error, 1)
	go func() {
		_, err := execute(context.WithoutCancel(t.Context()), p, `{}`)
		answered <- err
	}()
	await(t, host, (*agentv1.Plugin).GetHeld)
	require.Eventually(t, func() bool { return p.HeldTime() > time.Second }, wait, 10*time.Millisecond)
	require.NoError(t, process.Process.Signal(syscall.SIGCONT))
	require.NoError(t, <-answered)
	shown := await(t, host, func(p *agentv1.Plugin) bool { return !p.GetHeld() })
	require.NotEmpty(t, shown.GetAttached())
	require.Zero(t, shown.GetRestarts())
}

func TestPipedLeavesAnAttachedProcessRatherThanEndIt(t *testing.T) {
	t.Parallel()
	hand := newByHand(t)
	process := hand.start(settings{"stages": []string{"A"}})
	host := start(t, func(o *pluginhost.Options) { o.Reattach = []reattach.Target{hand.target("p")} },
		entry(t, "p", settings{"stages": []string{"A"}}))
	await(t, host, attached)
	p, err := host.Owner(t.Context(), "A")
	require.NoError(t, err)
	taken := pluginhost.NewTaken()
	_, err = p.Deployment().ExecuteStage(t.Context(), stageOf(`{}`), pluginhost.TakenBy(taken))
	require.NoError(t, err)
	taken.Kill("a test wants so")
	await(t, host, detached)
	await(t, host, func(p *agentv1.Plugin) bool {
		return strings.Contains(p.GetDetail(), "DETACHED") && strings.Contains(p.GetDetail(), "a test wants so")
	})
	require.NoError(t, process.Process.Signal(syscall.Signal(0)), "it goes on")

	hand.end(process)
	if runtime.GOOS != "linux" {
		return // another one at the same address is not known from the first before a second has passed
	}
	hand.start(settings{"stages": []string{"A"}})
	await(t, host, attached)
}

func TestAProcessOfAnUnknownPluginIsRefused(t *testing.T) {
	t.Parallel()
	_, err := pluginhost.New(pluginhost.Options{Reattaching: pluginhost.Reattaching{
		Reattach: []reattach.Target{{Plugin: "x", Address: "127.0.0.1:1"}},
	}})
	require.ErrorContains(t, err, "PIPEDECK_REATTACH")
}

func TestAProcessThatHangsUpIsNotAttachedForAPlainReason(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-hungUp
	})
	host := start(t, func(o *pluginhost.Options) {
		o.Reattach = []reattach.Target{{Plugin: "p", Address: listener.Addr().String()}}
	}, entry(t, "p", settings{"stages": []string{"A"}}))
	shown := await(t, host, func(p *agentv1.Plugin) bool {
		return strings.HasPrefix(p.GetDetail(), "cannot attach a process: ")
	})
	require.Contains(t, shown.GetDetail(), "does not answer as a plugin does: ")
	require.NotContains(t, shown.GetDetail(), "rpc error")
}
