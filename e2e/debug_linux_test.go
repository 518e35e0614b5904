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
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
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

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

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
	// The flags of make leave out what debuggers read.
	e.Variables = append(e.Variables, "GOFLAGS=-buildvcs=false",
		"PATH="+filepath.Dir(os.Getenv("PIPEDECK_DLV"))+":"+os.Getenv("PATH"))
	repo := e.newGreeter(timeout)
	port := freePort(t)
	up := e.start("up", repo, "--cluster", "none", "--plugin", "greeter="+repo, "--debug",
		"greeter="+strconv.Itoa(port))
	up.await("the first deployment", deployed("greeter-example", "SUCCESS"))
	up.await("the debugger", func(e event) bool {
		return e.is("component", "name", "debugger greeter", "state", "READY")
	})
	plugin := e.row("plugins", "greeter")

	client := connectToDelve(t, port)
	client.command("halt")
	source := filepath.Join(repo, "stage.go")
	code, err := os.ReadFile(source)
	require.NoError(t, err)
	before, _, found := strings.Cut(string(code), "req.Log.Infof(")
	require.True(t, found)
	line := strings.Count(before, "\n") + 1
	client.call("CreateBreakpoint", map[string]any{"Breakpoint": map[string]any{"file": source, "line": line}})
	stopped := make(chan error, 1)
	go func() {
		var answer any
		stopped <- client.Call("RPCServer.Command", map[string]any{"name": "continue"}, &answer)
	}()
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
	require.Contains(t, e.pipedeck("plugins").Stdout, "held by a debugger (dlv, pid ")

	client.call("ClearBreakpoint", map[string]any{"Id": 1})
	go func() { _ = client.Call("RPCServer.Command", map[string]any{"name": "continue"}, new(any)) }()
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

// row is what a table command says of the thing with a name.
func (e *environment) row(table, name string) map[string]any {
	e.t.Helper()
	rows := e.list(table)
	i := slices.IndexFunc(rows, func(row map[string]any) bool { return row["name"] == name })
	require.GreaterOrEqual(e.t, i, 0, rows)
	return rows[i]
}
