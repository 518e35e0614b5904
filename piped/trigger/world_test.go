// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/trigger"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// world is a user's repository, a control plane, and a piped's triggers, one after the other.
type world struct {
	t       *testing.T
	dir     string // the user's repository
	mirrors string
	plane   *controlPlane
	clock   *clock
	// more are further repositories by id.
	more map[string]string
	// uses is Options.Uses, and reporter gets what it says.
	uses     func(*config.Application) ([]string, bool)
	reporter trigger.PluginReporter
	// selector is the appSelector.
	selector map[string]string
	removals trigger.Removals

	trigger *trigger.Trigger
	stop    func()

	mu        sync.Mutex
	submitted []*model.Deployment
	broken    []string // "application commit: reason", first lines only
	mistakes  []string // "application: mistake" of the last pass
	mistaken  []string // "repository: mistake" of the last pass
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, dir: gittest.Init(t), mirrors: t.TempDir(), plane: startControlPlane(t), clock: &clock{now: time.Now()},
		stop: func() {},
	}
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return gittest.Run(w.t, w.dir, args...)
}

func (w *world) write(name, content string) {
	w.t.Helper()
	gittest.Write(w.t, w.dir, name, content)
}

// application writes an application configuration; spec is indented by two.
func (w *world) application(dir, spec string) {
	w.t.Helper()
	w.write(filepath.Join(dir, "app.pipecd.yaml"), "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n"+spec)
}

func (w *world) commit(message string) string {
	w.t.Helper()
	return gittest.Commit(w.t, w.dir, message)
}

// start starts a piped's trigger; the one before must have been stopped.
func (w *world) start() {
	w.t.Helper()
	client, err := controlplane.Dial(
		controlplane.Options{
			Address: w.plane.address, ProjectID: "dev", PipedID: "p", Key: []byte("k"), Insecure: true,
		},
	)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	var repositories []*git.Repository
	remotes := map[string]string{"apps": w.dir}
	for id, remote := range w.more {
		remotes[id] = remote
	}
	for id, remote := range remotes {
		r, err := git.Open(ctx, git.Options{ID: id, Remote: remote, Branch: "main", Dir: filepath.Join(w.mirrors, id)})
		require.NoError(w.t, err)
		repositories = append(repositories, r)
		runs.Go(func() { _ = r.Run(ctx) })
	}
	w.trigger = trigger.New(trigger.Options{
		ProjectID: "dev", PipedID: "p", AppSelector: w.selector, Repositories: repositories, ControlPlane: client,
		Deployments: w, Clock: w.clock, Broken: w.isBroken, Configured: w.areConfigured,
		Uses: w.uses, PluginReporter: w.reporter, Unregistered: w.areUnregistered, Removals: w.removals,
	})
	w.plane.read(func() { w.plane.registered = w.trigger.ApplicationsChanged })
	runs.Go(func() { _ = w.trigger.Run(ctx) })
	w.stop = func() {
		cancel()
		runs.Wait()
		client.Close()
		w.stop = func() {}
	}
}

// isBroken is the notifier's. It wakes those who wait, as the calls of the control plane do.
func (w *world) isBroken(a *model.Application, commit *model.Commit, reason string) {
	defer w.plane.read(w.plane.broadcast)
	w.mu.Lock()
	defer w.mu.Unlock()
	first, _, _ := strings.Cut(reason, "\n")
	w.broken = append(w.broken, a.GetName()+" "+commit.GetMessage()+": "+first)
}

// areConfigured is the list of problems. It wakes those who wait, as the calls of the control plane do.
func (w *world) areConfigured(list []trigger.Configured) {
	defer w.plane.read(w.plane.broadcast)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mistakes = nil
	for _, application := range list {
		if application.Invalid != nil {
			first, _, _ := strings.Cut(application.Invalid.Error(), "\n")
			w.mistakes = append(w.mistakes, application.Name+" is invalid: "+first)
		}
		for _, mistake := range application.Unread {
			w.mistakes = append(w.mistakes, application.Name+": "+mistake.Error())
		}
	}
}

// areUnregistered is the list of problems, too.
func (w *world) areUnregistered(list []trigger.Unregistered) {
	defer w.plane.read(w.plane.broadcast)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mistaken = nil
	for _, one := range list {
		w.mistaken = append(w.mistaken, one.Repository+": "+one.Mistake)
	}
}

// awaitUnregistered waits until a pass has found these applications that cannot be registered, and no others.
func (w *world) awaitUnregistered(want ...string) {
	w.t.Helper()
	w.plane.await(w.t, "the unregistered applications of a pass", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.Equal(w.mistaken, want)
	})
}

// awaitMistakes waits until a pass has found these mistakes, and no others.
func (w *world) awaitMistakes(want ...string) {
	w.t.Helper()
	w.plane.await(w.t, "the mistakes of a pass", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.EqualFunc(w.mistakes, want, strings.HasPrefix)
	})
}

// Submit is the scheduler's.
func (w *world) Submit(deployments ...*model.Deployment) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.submitted = append(w.submitted, deployments...)
}

// awaitDeployment waits until the n-th deployment is created and reported, and returns it.
func (w *world) awaitDeployment(n int) *model.Deployment {
	w.t.Helper()
	var d *model.Deployment
	w.plane.await(w.t, "a deployment", func() bool {
		if len(w.plane.order) < n || w.plane.calls["ReportApplicationMostRecentDeployment"] < n {
			return false
		}
		d = w.plane.deployments[w.plane.order[n-1]]
		return true
	})
	return d
}

// settle waits until the trigger has dealt with everything so far, and returns the number of deployments.
// For that it adds an application that is never deployed, and sends commands that are refused.
func (w *world) settle() int {
	w.t.Helper()
	head := w.git("rev-parse", "HEAD")
	w.application("settle/"+head[:12], "  name: settle\n  trigger:\n    onCommit:\n      disabled: true\n")
	w.commit("Settle")
	w.plane.await(w.t, "the last commit to be seen", func() bool {
		return slices.ContainsFunc(
			w.plane.applications,
			func(a *model.Application) bool { return a.GetGitPath().GetPath() == "settle/"+head[:12] },
		)
	})
	answer := w.send(&model.Command{Id: "settle " + head, Type: model.Command_SYNC_APPLICATION, Commander: "test",
		SyncApplication: &model.Command_SyncApplication{ApplicationId: "absent"}})
	require.Equal(w.t, model.CommandStatus_COMMAND_FAILED, answer.status)
	// The refusal comes before the commits of its pass; the next pass begins after that one has ended.
	answer = w.send(&model.Command{Id: "settled " + head, Type: model.Command_SYNC_APPLICATION, Commander: "test",
		SyncApplication: &model.Command_SyncApplication{ApplicationId: "absent"}})
	require.Equal(w.t, model.CommandStatus_COMMAND_FAILED, answer.status)
	var count int
	w.plane.read(func() { count = len(w.plane.order) })
	return count
}

type answer struct {
	status   model.CommandStatus
	metadata map[string]string
}

// send gives piped a command and waits for the answer.
func (w *world) send(commands ...*model.Command) answer {
	w.t.Helper()
	w.plane.read(func() { w.plane.commands = append(w.plane.commands, commands...) })
	w.feed()
	var got answer
	w.plane.await(w.t, "the answer to a command", func() bool {
		for _, command := range commands {
			handled := w.plane.handled[command.GetId()]
			if len(handled) == 0 {
				return false
			}
			got = answer{handled[0].GetStatus(), handled[0].GetMetadata()}
		}
		return true
	})
	return got
}

// feed is the agent's: it passes on what ListUnhandledCommands answers.
func (w *world) feed() {
	var unhandled []*model.Command
	w.plane.read(func() {
		for _, command := range w.plane.commands {
			if len(w.plane.handled[command.GetId()]) == 0 {
				unhandled = append(unhandled, command)
			}
		}
	})
	w.trigger.HandleCommands(unhandled)
}

// state waits until the application of the directory has the sync state.
func (w *world) state(dir string, want model.ApplicationSyncStatus) *model.ApplicationSyncState {
	w.t.Helper()
	var got *model.ApplicationSyncState
	w.plane.await(w.t, "sync state "+want.String(), func() bool {
		if states := w.plane.states[appID(dir)]; len(states) > 0 {
			got = states[len(states)-1]
		}
		return got.GetTimestamp() > 0 && got.GetStatus() == want
	})
	return got
}

func appID(dir string) string { return "id:apps:" + dir + ":app.pipecd.yaml" }

// clock stands still until a test moves it.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	alarms []alarm
}

type alarm struct {
	at   time.Time
	ring chan time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := alarm{c.now.Add(d), make(chan time.Time, 1)}
	c.alarms = append(c.alarms, a)
	return a.ring
}

// advance waits until someone has asked to be woken in at most d, and wakes all who are due by then.
func (c *clock) advance(t *testing.T, d time.Duration) {
	t.Helper()
	require.Eventually(t, func() bool { return c.ring(d) }, time.Minute, time.Millisecond,
		"nothing waits for the clock")
}

// ring wakes all who have asked to be woken in at most d, if there are any.
func (c *clock) ring(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := func(a alarm) bool { return !a.at.After(c.now.Add(d)) }
	if !slices.ContainsFunc(c.alarms, due) {
		return false
	}
	c.alarms = slices.DeleteFunc(c.alarms, func(a alarm) bool {
		if !due(a) {
			return false
		}
		a.ring <- c.now.Add(d)
		return true
	})
	c.now = c.now.Add(d)
	return true
}
