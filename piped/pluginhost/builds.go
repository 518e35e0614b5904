// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/clock"
)

// buildPatience is how long a call waits for the build of changed sources.
const buildPatience = 2 * time.Minute

// Noted makes a call report what a user should know of the process that gets it: that the call waits for a build or for
// another call, how long it has waited, or that the process runs another program than its sources say. The function is
// called before the plugin is.
func Noted(note func(text string)) grpc.CallOption { return noted{note: note} }

type noted struct {
	grpc.EmptyCallOption
	note func(text string)
}

func noteOf(opts []grpc.CallOption) func(string) {
	for _, option := range opts {
		if n, ok := option.(noted); ok {
			return n.note
		}
	}
	return func(string) {}
}

// programOf is the path of a file url; empty for another one.
func programOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.Clean(u.Path)
}

// builds has the calls to a plugin wait while its program is built.
type builds struct {
	plugin string
	// program is the path of the binary; empty when it comes from another machine.
	program string
	// reload is set when a changed binary is started.
	reload    bool
	clock     clock.Clock
	condition *condition
	changes   *broadcast
	// renewed gets a value to have the binary examined.
	renewed chan struct{}

	mu sync.Mutex
	// waits are how long the planning of deployments has waited for a build, by deployment.
	waits map[string]time.Duration
	// examined is the file of the program that was started or refused last, refused why.
	examined identity
	refused  error
}

// await has calls that plan and deploy wait while the program is built and until the built one has taken over. A
// user who saves and deploys means the program that was saved. The error is that of ctx.
func (b *builds) await(ctx context.Context, method string, request any, opts []grpc.CallOption) error {
	if b.program == "" || !b.reload || b.condition.attached() || !strings.HasPrefix(
		method, "/"+deployment.DeploymentService_ServiceDesc.ServiceName+"/",
	) {
		return nil
	}
	note, began := noteOf(opts), b.clock.Now()
	patience := b.clock.After(buildPatience)
	building, announced := false, false
	for {
		changed := b.changes.next()
		status := config.ReadBuildStatus(b.program)
		building = building || status.State == config.BuildRunning
		if status.State != config.BuildRunning && b.current() {
			took := time.Duration(0)
			if building { // and not when a program was only replaced
				took = b.clock.Now().Sub(began)
			}
			if texts := b.texts(status, b.waited(request, took)); len(texts) > 0 {
				note(strings.Join(texts, "\n"))
			}
			return nil
		}
		if building && !announced {
			announced = true
			note("Waits for the build of plugin " + b.plugin)
		}
		select {
		case <-changed:
		case <-patience:
			note(
				fmt.Sprintf(
					"Plugin %s runs the program from before: the build of its changed sources did not end within %s",
					b.plugin, buildPatience,
				),
			)
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// maxWaits bounds the deployments whose planning has waited and whose first stage has not begun; some never do.
const maxWaits = 100

// waited notes how long a call has waited for a build. It returns how long a stage and the planning before it have
// waited, once: only a stage has a log.
func (b *builds) waited(request any, took time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch request := request.(type) {
	case *deployment.ExecuteStageRequest:
		id := request.GetInput().GetDeployment().GetId()
		took += b.waits[id]
		delete(b.waits, id)
		return took
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		id := request.GetInput().GetDeployment().GetId()
		if took == 0 {
			return 0
		}
		if b.waits == nil || len(b.waits) >= maxWaits {
			b.waits = map[string]time.Duration{}
		}
		b.waits[id] += took
	}
	return 0
}

// texts say how long a stage has waited for the build, and which build runs when it is not that of the sources.
func (b *builds) texts(status config.BuildStatus, took time.Duration) (texts []string) {
	if took > 0 {
		texts = append(
			texts, fmt.Sprintf("Waited %s for the build of plugin %s", took.Round(10*time.Millisecond), b.plugin),
		)
	}
	b.mu.Lock()
	refused := b.refused
	b.mu.Unlock()
	switch {
	case status.State == config.BuildFailed:
		texts = append(
			texts,
			fmt.Sprintf(
				"Plugin %s runs as it compiled last, since its changed sources do not compile: %s", b.plugin,
				status.Reason,
			),
		)
	case refused != nil:
		texts = append(
			texts,
			fmt.Sprintf(
				"Plugin %s runs the program from before, since the changed one does not start: %s", b.plugin, refused,
			),
		)
	}
	return texts
}

// runs reports whether the program in the file runs, in this very state.
func (b *builds) runs() bool {
	now, found := identify(b.program)
	b.mu.Lock()
	defer b.mu.Unlock()
	return found && b.condition.hasAnswered() && b.examined == now && b.refused == nil
}

// current reports whether the program in the file is the one that was started or refused last. When it is not, the
// program is examined now. A plugin without a process gets the program that is there with its next start.
func (b *builds) current() bool {
	now, found := identify(b.program)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !found || !b.condition.hasAnswered() || b.examined == now {
		return true
	}
	signal(b.renewed)
	return false
}

// examine notes that the program with this identity was started, or why it was refused.
func (b *builds) examine(program identity, refused error) {
	b.mu.Lock()
	b.examined, b.refused = program, refused
	b.mu.Unlock()
	b.changes.notify()
}
