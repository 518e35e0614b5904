// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/none"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/buildtest"
	"github.com/pipedeck/pipedeck/system/chantest"
)

const wait = time.Minute

var pipedProgram string

func TestMain(m *testing.M) { buildtest.Main(m, &pipedProgram, "./internal/piped") }

type sample struct{}

func (sample) Walk(fn func(name string, content []byte) error) error {
	return fn("web/app.pipecd.yaml", []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n"))
}

func newWorkspace(t *testing.T, plan string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.At(filepath.Join(t.TempDir(), "state"), "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.Mkdir(w.Path("piped", "tmp"), 0o700))
	require.NoError(t, os.WriteFile(w.Path("piped", "tmp", "plan"), []byte(plan), 0o600))
	return w
}

func options(w *workspace.Workspace) Options {
	return Options{
		Workspace: w,
		Clusters: []Cluster{{workspace.TargetName,
			func(Hooks) (cluster.Provider, error) { return none.Provider{}, nil }}},
		Repository:   func() (*workspace.Repository, error) { return w.EnsureSample(sample{}) },
		PipedOptions: PipedOptions{Piped: pipedProgram},
		Version:      "test",
		Logger:       slog.New(slog.DiscardHandler),
	}
}

// running is an environment in this process.
type running struct {
	address string
	stop    context.CancelFunc
	ended   chan error
}

// up starts an environment and waits until clients may connect.
func up(t *testing.T, o Options) *running {
	t.Helper()
	listening := make(chan string, 1)
	o.Listening = func(address string) { listening <- address }
	ctx, stop := context.WithCancel(context.Background())
	r := &running{stop: stop, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- Run(ctx, o)
	}()
	t.Cleanup(func() { stop(); <-done })
	r.address = chantest.Receive(t, listening)
	return r
}

// pids are those of every piped that was started, once there are n.
func pids(t *testing.T, w *workspace.Workspace, n int) []int {
	t.Helper()
	var found []int
	require.Eventually(t, func() bool {
		data, _ := os.ReadFile(w.Path("piped", "tmp", "pids"))
		found = nil
		for _, field := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(field)
			require.NoError(t, err)
			found = append(found, pid)
		}
		return len(found) >= n
	}, wait, 5*time.Millisecond)
	return found
}

// deck is a client of the environment.
func deck(t *testing.T, w *workspace.Workspace, address string) deckv1.DeckServiceClient {
	t.Helper()
	key, err := w.Keys().APIKey()
	require.NoError(t, err)
	conn, err := client.Dial(address, key)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return deckv1.NewDeckServiceClient(conn)
}

func TestAnEnvironmentEndsWithItsContextAndKeepsItsData(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	r := up(t, options(w))
	pid := pids(t, w, 1)[0]
	alive, err := w.Alive()
	require.NoError(t, err)
	require.True(t, alive)
	require.ErrorIs(t, Run(context.Background(), options(w)), workspace.ErrLocked, "one process runs an environment")

	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "piped ended")
	_, err = w.Published()
	require.ErrorIs(t, err, os.ErrNotExist)
	require.DirExists(t, w.SampleRepository())

	again := up(t, options(w))
	require.Equal(t, r.address, again.address, "what was pointed at the environment goes on working")
}

func TestATakenAddressOfTheLastRunIsReplaced(t *testing.T) {
	t.Parallel()
	first := up(t, options(newWorkspace(t, "run")))
	w := newWorkspace(t, "run")
	require.NoError(t, os.WriteFile(w.Path("address"), []byte(first.address+"\n"), 0o600))
	second := up(t, options(w))
	require.NotEqual(t, first.address, second.address)
	require.True(t, strings.HasPrefix(second.address, "127.0.0.1:"))
}

func TestShutdownEndsAndRemovesTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	r := up(t, options(w))
	pid := pids(t, w, 1)[0]
	_, err := deck(t, w, r.address).Shutdown(context.Background(), &deckv1.ShutdownRequest{Remove: true})
	require.NoError(t, err)
	require.NoError(t, chantest.Receive(t, r.ended))
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	require.NoDirExists(t, w.Dir)
}

func TestACrashedPipedIsStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "once")
	r := up(t, options(w))
	started := pids(t, w, 2)
	require.NoError(t, syscall.Kill(started[1], 0))
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
}

func TestAPipedThatKeepsDyingEndsTheEnvironmentWithItsLastWords(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "crash")
	err := chantest.Receive(t, up(t, options(w)).ended)
	var start *StartError
	require.ErrorAs(t, err, &start)
	require.Equal(t, "piped", start.Component)
	require.ErrorContains(t, err, "it keeps dying")
	require.ErrorContains(t, err, "out of luck")
	require.NotEmpty(t, start.Hint)
	require.Len(t, pids(t, w, 1), restartLimit+1)
}

func TestAPipedThatIsRefusedAndKeepsDyingNamesTheCause(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "refused")
	err := chantest.Receive(t, up(t, options(w)).ended)
	var start *StartError
	require.ErrorAs(t, err, &start)
	require.ErrorContains(t, err,
		"it keeps dying: the control plane refuses its calls (Unauthenticated): its key or project is wrong; piped "+
			"exited with code 1")
	require.ErrorContains(t, err, "a plugin was stopped")
	require.Contains(t, start.Hint, "the piped key in its configuration")
}

func TestAConfigurationThatPipedRefusesIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "config")
	err := chantest.Receive(t, up(t, options(w)).ended)
	var start *StartError
	require.ErrorAs(t, err, &start)
	require.ErrorContains(t, err, "piped.yaml:3:1: no such plugin")
	require.Len(t, pids(t, w, 1), 1)
}

// connectAsPiped introduces a piped to the control plane, as the stand-in does not.
func connectAsPiped(t *testing.T, w *workspace.Workspace, address string) {
	t.Helper()
	secrets, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	token := strings.Join([]string{workspace.ProjectID, w.PipedID(), secrets.PipedKey}, ",")
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "PIPED-TOKEN "+token)
	_, err = pipedservice.NewPipedServiceClient(conn).ReportPipedMeta(ctx,
		&pipedservice.ReportPipedMetaRequest{Version: "test"})
	require.NoError(t, err)
}

// The Go runtime ends a program that panics, or that gets SIGQUIT, with the exit code of a wrong configuration.
func TestAPipedThatPanicsIsStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	r := up(t, options(w))
	first := pids(t, w, 1)[0]
	h := watchHealth(t, deck(t, w, r.address))
	connectAsPiped(t, w, r.address)
	h.until(t, "piped", func() bool { return h.components[componentPiped].GetState() == deckv1.Component_STATE_READY })
	require.NoError(t, syscall.Kill(first, syscall.SIGQUIT))
	second := pids(t, w, 2)[1]
	require.NotEqual(t, first, second)
	require.Empty(t, r.ended)
}

func TestABrokenRepositoryIsAStartErrorWithItsHint(t *testing.T) {
	t.Parallel()
	o := options(newWorkspace(t, "run"))
	o.Repository = func() (*workspace.Repository, error) {
		return nil, &workspace.RepositoryError{Path: "/somewhere", Problem: "is a cake", Hint: "eat it"}
	}
	err := chantest.Receive(t, up(t, o).ended)
	var start *StartError
	require.ErrorAs(t, err, &start)
	require.Equal(t, "eat it", start.Hint)
}

func TestALostClusterEndsTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	o.Clusters[0].New = func(Hooks) (cluster.Provider, error) { return lost{}, nil }
	err := chantest.Receive(t, up(t, o).ended)
	require.EqualError(t, err, "kubernetes: it burned down")
	alive, aliveErr := w.Alive()
	require.NoError(t, aliveErr)
	require.False(t, alive)
}

type lost struct{ none.Provider }

func (lost) Run(context.Context, cluster.Progress, func(string)) error {
	return errors.New("it burned down")
}

func TestTheRemovalOfClustersIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	o.Remove = true
	deadlines := make(chan time.Time, 1)
	o.Clusters[0].New = func(Hooks) (cluster.Provider, error) { return deleted{deadlines: deadlines}, nil }
	r := up(t, o)
	r.stop()
	require.NoError(t, chantest.Receive(t, r.ended))
	require.WithinDuration(t, time.Now(), chantest.Receive(t, deadlines), deleteDeadline)
}

// deleted returns until when its cluster may be deleted; the zero time when there is no limit.
type deleted struct {
	none.Provider
	deadlines chan time.Time
}

func (d deleted) Delete(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	d.deadlines <- deadline
	return nil
}

func TestAKilledRunIsTakenOverAndItsChildrenEnd(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	// What a killed run leaves: a piped, here with an open input, and the list that names it.
	orphan := exec.Command(pipedProgram, "run", "--config-file", w.PipedConfig())
	orphan.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := orphan.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, orphan.Start())
	collected := make(chan struct{})
	go func() { defer close(collected); _ = orphan.Wait() }()
	t.Cleanup(func() { _ = orphan.Process.Kill(); <-collected })
	pids(t, w, 1)
	p, err := process.NewProcess(int32(orphan.Process.Pid))
	require.NoError(t, err)
	created, err := p.CreateTime()
	require.NoError(t, err)
	children := map[string]workspace.Child{
		"piped":      {PID: orphan.Process.Pid, CreatedAt: created},
		"kubernetes": {PID: os.Getpid(), CreatedAt: created}, // an id that belongs to another process by now
	}
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1", Processes: children}))
	require.NoError(t, input.Close()) // its parent's death

	r := up(t, options(w))
	chantest.Receive(t, collected)
	stream, err := deck(t, w, r.address).Watch(context.Background(), &deckv1.WatchRequest{})
	require.NoError(t, err)
	var said string
	for !strings.Contains(said, "took over") {
		response, err := stream.Recv()
		require.NoError(t, err)
		for _, event := range response.Events {
			said += event.GetComponent().GetDetail()
		}
	}
	require.Contains(t, said, "took over from pid 1, which was killed")
	require.NotContains(t, said, "kubernetes")
}

// lateCluster is ready when the test says so.
type lateCluster struct {
	none.Provider
	now chan struct{}
}

func (c lateCluster) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	select {
	case <-c.now:
	case <-ctx.Done():
		return nil
	}
	return c.Provider.Run(ctx, progress, ready)
}

func TestAForeignPipedStartsWhenTheClustersAreReady(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	late := lateCluster{now: make(chan struct{})}
	o.Clusters = append(o.Clusters, Cluster{"late", func(Hooks) (cluster.Provider, error) { return late, nil }})
	o.ForeignPiped = true
	r := up(t, o)
	h := watchHealth(t, deck(t, w, r.address))
	h.until(t, "piped that waits", func() bool {
		return strings.Contains(h.components[componentPiped].GetDetail(), "kubernetes late is ready")
	})
	require.NoFileExists(t, w.Path("piped", "tmp", "pids"), "it would give up")
	close(late.now)
	pids(t, w, 1)
}

func TestAPipedThatReportsNoApplicationIsAProblem(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	o.silence, o.Flags = time.Millisecond, " --name run"
	problem := watchHealth(t, deck(t, w, up(t, o).address)).untilProblem(t, partApplications, "no application")
	require.Equal(t, "piped has reported no application for 1ms, see "+w.Path("logs", "piped.log"), problem.GetReason())
	require.Equal(t, componentPiped, problem.GetComponent())
	require.Contains(t, problem.GetNextStep(), "run: pipedeck down --name run; pipedeck up --name run")
}
