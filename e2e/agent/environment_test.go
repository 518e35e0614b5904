// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/system/gittest"
	"github.com/pipedeck/pipedeck/system/logtest"
)

const wait = 2 * time.Minute

// Binaries that the tests run; bundled plugins by their name.
var (
	pipedBinary, pluginBinary string
	bundled                   = map[string]string{"wait": "", "waitapproval": "", "scriptrun": ""}
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "piped-test-*")
	if err != nil {
		panic(err)
	}
	pipedBinary, pluginBinary = filepath.Join(dir, "piped"), filepath.Join(dir, "testplugin")
	sources := map[string]string{
		pipedBinary: "../../cmd/piped", pluginBinary: "../../piped/pluginhost/internal/testplugin",
	}
	for name := range bundled {
		bundled[name] = filepath.Join(dir, name)
		sources[bundled[name]] = "../../plugins/" + name
	}
	for target, source := range sources {
		cmd := exec.Command("go", "build", "-o", target, source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as programs are built; the race detector of the tests needs C
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", source, err, out)
			os.Exit(1)
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// environment is a control plane, a repository with one application, and a configuration for piped.
type environment struct {
	dir, repository, config string
	address                 string
	deck                    *deck
}

const (
	pipedKey = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
	apiKey   = "id.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)

func newEnvironment(t *testing.T, application string) *environment {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := controlplane.New(
		controlplane.Config{
			ProjectID: "project", PipedID: "piped", PipedName: "piped", PipedKey: pipedKey, APIKey: apiKey,
		},
	)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	e := &environment{dir: t.TempDir(), address: listener.Addr().String()}
	e.repository = filepath.Join(e.dir, "repository")
	require.NoError(t, os.Mkdir(e.repository, 0o755))
	e.git(t, "init", "-q", "-b", "main")
	e.commit(t, "first", application)
	e.config = e.write(t, "piped.yaml", fmt.Sprintf(`apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: project
  pipedID: piped
  pipedKeyFile: %s
  apiAddress: %s
  repositories: [{repoId: local, remote: "file://%s", branch: main}]
  plugins:
    - {name: p, url: "file://%s", port: 0, config: {stages: [A, B, ROLLBACK], rollback: ROLLBACK}}
`, e.write(t, "key", pipedKey), e.address, e.repository, pluginBinary))
	e.deck = watch(t, e.address)
	return e
}

func (e *environment) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(e.dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (e *environment) git(t *testing.T, args ...string) {
	t.Helper()
	gittest.Run(t, e.repository, args...)
}

// commit commits a configuration of the application in the directory "app".
func (e *environment) commit(t *testing.T, message, application string) {
	t.Helper()
	e.commitAll(t, message, map[string]string{"app": application})
}

// commitAll commits configurations of applications by directory.
func (e *environment) commitAll(t *testing.T, message string, applications map[string]string) {
	t.Helper()
	for name, application := range applications {
		dir := filepath.Join(e.repository, name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "app.pipecd.yaml"), []byte(application), 0o600))
	}
	e.git(t, "add", ".")
	e.git(t, "commit", "-q", "-m", message)
}

// reconfigure replaces a part of the configuration.
func (e *environment) reconfigure(t *testing.T, old, changed string) {
	t.Helper()
	text, err := os.ReadFile(e.config)
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	e.write(t, filepath.Base(e.config), strings.Replace(string(text), old, changed, 1))
}

// user is a user interface's way to the control plane.
func (e *environment) user(t *testing.T) deckv1.DeckServiceClient {
	t.Helper()
	conn, err := client.Dial(e.address, apiKey)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return deckv1.NewDeckServiceClient(conn)
}

func pipeline(options ...string) string {
	text := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n  pipeline:\n    stages:\n"
	for i, o := range options {
		text += fmt.Sprintf("      - {name: %s, with: %s}\n", []string{"A", "B"}[i%2], o)
	}
	return text
}

// deck is what a user interface would know.
type deck struct {
	mu          sync.Mutex
	changed     chan struct{}
	deployments []*deckv1.Deployment
	plugin      *deckv1.Plugin
	problems    map[string]*deckv1.Problem // by id
	apps        map[string]*deckv1.Application
	// history holds what became of the stages, "A RUNNING 0" with the attempt, by deployment.
	history map[string][]string
}

func watch(t *testing.T, address string) *deck {
	t.Helper()
	conn, err := client.Dial(address, apiKey)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := deckv1.NewDeckServiceClient(conn).Watch(ctx, &deckv1.WatchRequest{})
	require.NoError(t, err)
	d := &deck{changed: make(chan struct{}), history: map[string][]string{}, problems: map[string]*deckv1.Problem{},
		apps: map[string]*deckv1.Application{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			answer, err := stream.Recv()
			if err != nil {
				return
			}
			d.apply(answer.GetEvents())
		}
	}()
	t.Cleanup(func() {
		cancel()
		conn.Close()
		<-done
	})
	return d
}

func (d *deck) apply(events []*deckv1.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, event := range events {
		if p := event.GetPlugin(); p != nil {
			d.plugin = p
		}
		if deployment := event.GetDeployment(); deployment != nil {
			d.put(deployment)
		}
		if a := event.GetApplication(); a != nil {
			d.apps[a.GetId()] = a
		}
		if p := event.GetProblem(); p != nil {
			d.problems[p.GetId()] = p
		}
		delete(d.problems, event.GetRemoved().GetProblemId())
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *deck) put(deployment *deckv1.Deployment) {
	for i, known := range d.deployments {
		if known.GetId() == deployment.GetId() {
			d.remember(known, deployment)
			d.deployments[i] = deployment
			return
		}
	}
	d.deployments = append(d.deployments, deployment)
}

func (d *deck) remember(before, after *deckv1.Deployment) {
	for i, stage := range after.GetStages() {
		var was *deckv1.Stage
		if i < len(before.GetStages()) {
			was = before.GetStages()[i]
		}
		if was.GetStatus() != stage.GetStatus() || was.GetRetries() != stage.GetRetries() {
			status := strings.TrimPrefix(stage.GetStatus().String(), "STAGE_STATUS_")
			if status != "NOT_STARTED" {
				d.history[after.GetId()] = append(
					d.history[after.GetId()], fmt.Sprintf("%s %s %d", stage.GetName(), status, stage.GetRetries()),
				)
			}
		}
	}
}

func (d *deck) historyOf(deployment *deckv1.Deployment) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.history[deployment.GetId()])
}

// of lists the deployments of an application, the oldest first.
func (d *deck) of(application string) []*deckv1.Deployment {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []*deckv1.Deployment
	for _, deployment := range d.deployments {
		if deployment.GetApplicationName() == application {
			list = append(list, deployment)
		}
	}
	return list
}

// awaitAll waits until the condition holds.
func (d *deck) awaitAll(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(wait)
	for {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		if condition() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(t, "timed out waiting for "+what)
		}
	}
}

// await waits until the index-th deployment is as wanted and returns it.
func (d *deck) await(t *testing.T, index int, what string, wanted func(*deckv1.Deployment) bool) *deckv1.Deployment {
	t.Helper()
	deadline := time.After(wait)
	for {
		d.mu.Lock()
		changed := d.changed
		var deployment *deckv1.Deployment
		if index < len(d.deployments) {
			deployment = d.deployments[index]
		}
		d.mu.Unlock()
		if deployment != nil && wanted(deployment) {
			return deployment
		}
		select {
		case <-changed:
		case <-deadline:
			require.Fail(t, "timed out waiting for "+what, "%v", deployment)
		}
	}
}

func (d *deck) awaitEnd(t *testing.T, index int) *deckv1.Deployment {
	t.Helper()
	return d.await(
		t, index, "the end of the deployment", func(d *deckv1.Deployment) bool { return d.GetCompletedAt() != nil },
	)
}

func (d *deck) awaitStage(t *testing.T, stage int, status deckv1.StageStatus) *deckv1.Deployment {
	t.Helper()
	return d.await(t, 0, fmt.Sprint("stage ", stage, " to be ", status), func(d *deckv1.Deployment) bool {
		return len(d.GetStages()) > stage && d.GetStages()[stage].GetStatus() == status
	})
}

func (d *deck) pluginPID() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int(d.plugin.GetPid())
}

// awaitPlugin waits until the plugin is as wanted.
func (d *deck) awaitPlugin(t *testing.T, what string, wanted func(*deckv1.Plugin) bool) {
	t.Helper()
	d.awaitAll(t, what, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return wanted(d.plugin)
	})
}

// pipedProcess is a running piped.
type pipedProcess struct {
	*exec.Cmd
	stdin  io.Closer
	output *logtest.Buffer
	done   chan struct{}
}

func (e *environment) start(t *testing.T, args ...string) *pipedProcess {
	t.Helper()
	return e.startWith(t, "", args...)
}

// startWith starts piped with failpoints.
func (e *environment) startWith(t *testing.T, failpoints string, args ...string) *pipedProcess {
	t.Helper()
	return execute(
		t, []string{failpoint.Variable + "=" + failpoints},
		append(e.flags("run"), append([]string{"--config-file", e.config}, args...)...)...,
	)
}

// flags begin a command line that fits the environment; the configuration is to follow.
func (e *environment) flags(command string) []string {
	return []string{
		command, "--insecure", "--admin-port", "0", "--plugin-service-port", "0", "--grace-period", "3s", "--work-dir",
		filepath.Join(e.dir, "work"),
	}
}

// execute starts piped with variables and a whole command line.
func execute(t *testing.T, variables []string, args ...string) *pipedProcess {
	t.Helper()
	return executeProgram(t, pipedBinary, variables, args...)
}

// executeProgram starts a program that becomes piped.
func executeProgram(t *testing.T, program string, variables []string, args ...string) *pipedProcess {
	t.Helper()
	p := &pipedProcess{output: &logtest.Buffer{}, done: make(chan struct{})}
	p.Cmd = exec.Command(program, args...)
	p.Env = append(os.Environ(), variables...)
	stdin, err := p.StdinPipe()
	require.NoError(t, err)
	p.stdin = stdin
	p.Stdout, p.Stderr = p.output, p.output
	require.NoError(t, p.Start())
	go func() {
		defer close(p.done)
		_ = p.Wait()
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("output of piped:\n%s", p.output)
		}
	})
	return p
}

// exit waits for the end and returns the exit code.
func (p *pipedProcess) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(wait):
		require.Fail(t, "piped did not end", "%s", p.output)
	}
	return p.ProcessState.ExitCode()
}

func (p *pipedProcess) terminate(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Zero(t, p.exit(t), "%s", p.output)
}

var adminAddress = regexp.MustCompile(`admin=(127\.0\.0\.1:\d+)`)

// admin asks the admin server of piped.
func (p *pipedProcess) admin(t *testing.T, path string) (int, string) {
	t.Helper()
	require.Eventually(t, func() bool { return adminAddress.MatchString(p.output.String()) }, wait, time.Millisecond)
	response, err := http.Get("http://" + adminAddress.FindStringSubmatch(p.output.String())[1] + path)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(body))
}
