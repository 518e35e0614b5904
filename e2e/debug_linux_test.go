// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
	"github.com/pipedeck/pipedeck/system/logtest"
	"github.com/pipedeck/pipedeck/system/porttest"
)

// delve is a client of the debugger of a plugin.
type delve struct {
	t *testing.T
	*rpc.Client
}

func connectToDelve(t *testing.T, port int) delve {
	t.Helper()
	client, err := jsonrpc.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return delve{t, client}
}

func (d delve) call(method string, argument map[string]any) {
	d.t.Helper()
	var answer any
	require.NoError(d.t, d.Call("RPCServer."+method, argument, &answer))
}

func (d delve) command(name string) { d.call("Command", map[string]any{"name": name}) }

// newGreeter returns the repository of a new plugin greeter, whose application gives its stage so much time.
func (e *environment) newGreeter(timeout time.Duration) string {
	t := e.t
	t.Helper()
	repo := filepath.Join(t.TempDir(), "greeter")
	said, err := exec.Command(filepath.Join(e.Bin, "pipedeck"), "plugin", "new", "greeter", repo).CombinedOutput()
	require.NoError(t, err, string(said))
	replaceIn(t, filepath.Join(repo, "example", "app.pipecd.yaml"), "name: GREETER\n",
		"name: GREETER\n        timeout: "+timeout.String()+"\n")
	gittest.Run(t, repo, "init", "-q", "-b", "main")
	gittest.Run(t, repo, "add", ".")
	gittest.Run(t, repo, "commit", "-q", "-m", "Begin")
	return repo
}

// The clocks of the plugin's start, its health and its stage are short, and the breakpoint is held for three times the
// longest of them.
func TestABreakpointInAPluginFailsNothing(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	if os.Getenv("PIPEDECK_DLV") == "" {
		t.Fatal("run the stories with: make e2e")
	}
	e := newEnvironment(t)
	e.Variables = append(e.Variables, "GOFLAGS=-buildvcs=false",
		"PATH="+filepath.Dir(os.Getenv("PIPEDECK_DLV"))+":"+os.Getenv("PATH"))
	repo := e.newGreeter(timeout)
	e.buildForDebugger(repo) // what it imports is compiled before the environment is waited for
	// They leave out what debuggers read, which --debug overrides.
	e.Variables = append(e.Variables, "GOFLAGS=-buildvcs=false -gcflags=all=-dwarf=false '-ldflags=-s -w'")
	port := porttest.Free(t)
	up := e.start("up", repo, "--cluster", "none", "--plugin", "greeter="+repo, "--debug",
		"greeter="+strconv.Itoa(port))
	up.await("the first deployment", deployed("greeter-example", "SUCCESS"))
	up.await("the debugger", func(e event) bool {
		return e.is("component", "name", "debugger greeter", "state", "READY")
	})
	plugin := e.row("plugins", "greeter")
	for name, text := range map[string]string{
		".vscode/launch.json": `"port": %d`, ".run/pipedeck greeter.run.xml": `port="%d"`,
	} {
		found, err := os.ReadFile(filepath.Join(repo, name))
		require.NoError(t, err)
		require.Contains(t, string(found), fmt.Sprintf(text, port))
	}

	client := connectToDelve(t, port)
	line, stopped := client.breakAtStep(repo)
	replaceIn(t, filepath.Join(repo, "example", "app.pipecd.yaml"), "[one, two, three]", "[one]")
	gittest.Run(t, repo, "commit", "-aqm", "One step")
	held := time.Now()
	place := fmt.Sprintf("held at stage.go:%d", line)
	up.await("the breakpoint", func(e event) bool {
		detail, _ := e["detail"].(string)
		return e.is("component", "name", "debugger greeter") && strings.Contains(detail, place)
	})
	require.NoError(t, <-stopped)
	require.Eventually(t, func() bool { return time.Since(held) > 3*timeout }, patience, 100*time.Millisecond)
	require.Contains(t, e.pipedeck("plugins").Stdout, fmt.Sprintf("held by a debugger at stage.go:%d", line))
	require.Contains(t, e.pipedeck("status").Stdout, fmt.Sprintf("held by a debugger at stage.go:%d", line))
	client.letGo()
	commit := gittest.Run(t, repo, "rev-parse", "HEAD")
	up.await("the end of the deployment", func(e event) bool {
		return e.is("deployment", "commit", commit, "status", "SUCCESS") ||
			e.is("deployment", "commit", commit, "status", "FAILURE")
	})
	require.Equal(t, "SUCCESS", e.list("deployments")[0]["status"])
	after := e.row("plugins", "greeter")
	require.Equal(t, plugin["pid"], after["pid"])
	require.EqualValues(t, 0, after["restarts"])
}

// breakAtStep sets a breakpoint in the stage of a greeter. It returns its line, and what is ready once a process stands
// there.
func (d delve) breakAtStep(repo string) (line int, stopped <-chan error) {
	d.t.Helper()
	source := filepath.Join(repo, "stage.go")
	code, err := os.ReadFile(source)
	require.NoError(d.t, err)
	before, _, found := strings.Cut(string(code), "req.Log.Infof(")
	require.True(d.t, found)
	line = strings.Count(before, "\n") + 1
	d.command("halt")
	d.call("CreateBreakpoint", map[string]any{"Breakpoint": map[string]any{"file": source, "line": line}})
	ended := make(chan error, 1)
	go func() {
		var answer any
		ended <- d.Call("RPCServer.Command", map[string]any{"name": "continue"}, &answer)
	}()
	return line, ended
}

// letGo removes the breakpoint and has the process run.
func (d delve) letGo() {
	d.t.Helper()
	d.call("ClearBreakpoint", map[string]any{"Id": 1})
	go func() { _ = d.Call("RPCServer.Command", map[string]any{"name": "continue"}, new(any)) }()
}

// debugBy runs Delve as the author of a plugin does, until the test ends, and connects to it.
func (e *environment) debugBy(args ...string) delve {
	t := e.t
	t.Helper()
	port := porttest.Free(t)
	command := exec.Command(os.Getenv("PIPEDECK_DLV"), append([]string{args[0], args[1], "--headless",
		"--accept-multiclient", "--continue", "--listen", fmt.Sprint("127.0.0.1:", port)}, args[2:]...)...)
	command.Env = append(os.Environ(), e.Variables...)
	var said logtest.Buffer
	command.Stdout, command.Stderr = &said, &said
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "listening at: ") }, patience,
		20*time.Millisecond, said.String())
	client := connectToDelve(t, port)
	require.Eventually(t, func() bool { // it listens before it lets the process go, and loses what it is asked for then
		var answer struct{ State struct{ Running bool } }
		err := client.Call("RPCServer.State", map[string]any{"NonBlocking": true}, &answer)
		return err == nil && answer.State.Running
	}, patience, 100*time.Millisecond)
	return client
}

// An author starts the plugin under a debugger, as F5 in an editor does, and later attaches one to the plugin's own
// process.
func TestABreakpointOfADebuggerThatTheAuthorHasStartedFailsNothing(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	if os.Getenv("PIPEDECK_DLV") == "" {
		t.Fatal("run the stories with: make e2e")
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	e := newEnvironment(t)
	e.Variables = append(e.Variables, "GOFLAGS=-buildvcs=false", "XDG_CACHE_HOME="+t.TempDir(),
		"GOCACHE="+strings.TrimSpace(string(cache)))
	repo := e.newGreeter(timeout)
	program := e.buildForDebugger(repo)
	up := e.start("up", repo, "--cluster", "none", "--plugin", "greeter="+program)
	up.await("the first deployment", deployed("greeter-example", "SUCCESS"))
	own := e.row("plugins", "greeter")

	hold := func(client delve, before, after string) {
		_, stopped := client.breakAtStep(repo)
		replaceIn(t, filepath.Join(repo, "example", "app.pipecd.yaml"), before, after)
		gittest.Run(t, repo, "commit", "-aqm", "Steps "+after)
		commit := gittest.Run(t, repo, "rev-parse", "HEAD")
		require.NoError(t, <-stopped)
		held := time.Now()
		require.Eventually(t, func() bool { return time.Since(held) > 3*timeout }, patience, 100*time.Millisecond)
		require.Contains(t, e.pipedeck("plugins").Stdout, "held by a debugger (dlv, pid ")
		client.letGo()
		up.await("the end of the deployment", func(e event) bool {
			return e.is("deployment", "commit", commit, "status", "SUCCESS") ||
				e.is("deployment", "commit", commit, "status", "FAILURE")
		})
		require.Equal(t, "SUCCESS", e.list("deployments")[0]["status"])
		require.EqualValues(t, own["restarts"], e.row("plugins", "greeter")["restarts"])
	}
	client := e.debugBy("exec", program, "--", "reattach")
	r := e.pipedeck("plugin", "attach", "greeter")
	require.Zero(t, r.Code, r.Stderr)
	attached := e.row("plugins", "greeter")
	require.NotEmpty(t, attached["attached"])
	require.NotEqual(t, own["pid"], attached["pid"])
	hold(client, "[one, two, three]", "[one]")

	client.call("Command", map[string]any{"name": "halt"})
	client.call("Detach", map[string]any{"Kill": true})
	up.await("piped's own process", func(e event) bool {
		detail, _ := e["detail"].(string)
		return e.is("plugin", "name", "greeter", "state", "RUNNING") && strings.HasPrefix(detail, "DETACHED at ")
	})
	own = e.row("plugins", "greeter")
	require.Empty(t, own["attached"])
	hold(e.debugBy("attach", fmt.Sprint(own["pid"])), "[one]", "[two]")
}

// debuggerBuild is held during a build, so that stories side by side compile the same packages once.
var debuggerBuild sync.Mutex

// buildForDebugger returns the program of a plugin with what debuggers read.
func (e *environment) buildForDebugger(repo string) (program string) {
	e.t.Helper()
	debuggerBuild.Lock()
	defer debuggerBuild.Unlock()
	program = filepath.Join(e.t.TempDir(), "greeter")
	build := exec.Command("go", "build", "-gcflags", "-N -l", "-o", program, ".")
	build.Dir, build.Env = repo, append(os.Environ(), e.Variables...)
	said, err := build.CombinedOutput()
	require.NoError(e.t, err, string(said))
	return program
}

// row is what a table command says of the thing with a name.
func (e *environment) row(table, name string) map[string]any {
	e.t.Helper()
	rows := e.list(table)
	i := slices.IndexFunc(rows, func(row map[string]any) bool { return row["name"] == name })
	require.GreaterOrEqual(e.t, i, 0, rows)
	return rows[i]
}
