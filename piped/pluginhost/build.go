// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
)

// buildPatience is how long a call waits for the build of changed sources.
const buildPatience = 2 * time.Minute

// Noted makes a call report what a user should know of the process that gets it: that it waited for a build, or that it
// runs another program than its sources say. The function is called before the plugin is.
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

// program is the path of a file url; empty for another one.
func (p *Plugin) program() string {
	u, err := url.Parse(p.config.URL)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.Clean(u.Path)
}

// awaitBuild has calls that plan and deploy wait while the program is built and until the built one has taken over. A
// user who saves and deploys means the program that was saved. The error is that of ctx.
func (p *Plugin) awaitBuild(ctx context.Context, method string, request any, opts []grpc.CallOption) error {
	program := p.program()
	if program == "" || p.options.NoReload || !strings.HasPrefix(method, "/"+deployment.DeploymentService_ServiceDesc.ServiceName+"/") {
		return nil
	}
	note, began := noteOf(opts), time.Now()
	patience := time.NewTimer(buildPatience)
	defer patience.Stop()
	waited := false
	for {
		changed := p.changes.next()
		status := config.ReadBuildStatus(program)
		if status.State != config.BuildRunning && p.current(program) {
			took := time.Duration(0)
			if waited {
				took = time.Since(began)
			}
			var texts []string
			if took = p.waited(request, took); took > 0 {
				texts = append(texts, fmt.Sprintf("Waited %s for the build of plugin %s", took.Round(10*time.Millisecond), p.Name()))
			}
			if texts = append(texts, p.otherBuild(status)...); len(texts) > 0 {
				note(strings.Join(texts, "\n"))
			}
			return nil
		}
		waited = true
		select {
		case <-changed:
		case <-patience.C:
			note(fmt.Sprintf("Plugin %s runs the program from before: the build of its changed sources did not end within %s", p.Name(), buildPatience))
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
func (p *Plugin) waited(request any, took time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch request := request.(type) {
	case *deployment.ExecuteStageRequest:
		id := request.GetInput().GetDeployment().GetId()
		took += p.waits[id]
		delete(p.waits, id)
		return took
	case interface {
		GetInput() *deployment.PlanPluginInput
	}:
		id := request.GetInput().GetDeployment().GetId()
		if took == 0 {
			return 0
		}
		if p.waits == nil || len(p.waits) >= maxWaits {
			p.waits = map[string]time.Duration{}
		}
		p.waits[id] += took
	}
	return 0
}

// otherBuild says which build runs when it is not that of the sources.
func (p *Plugin) otherBuild(status config.BuildStatus) []string {
	p.mu.Lock()
	refused := p.refused
	p.mu.Unlock()
	switch {
	case status.State == config.BuildFailed:
		return []string{fmt.Sprintf("Plugin %s runs as it compiled last, since its changed sources do not compile: %s", p.Name(), status.Reason)}
	case refused != nil:
		return []string{fmt.Sprintf("Plugin %s runs the program from before, since the changed one does not start: %s", p.Name(), refused)}
	}
	return nil
}

// current reports whether the program in the file is the one that was started or refused last. When it is not, the
// program is examined now. A plugin without a process gets the program that is there with its next start.
func (p *Plugin) current(program string) bool {
	now, found := identify(program)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !found || !p.ready || p.examined == now {
		return true
	}
	signal(p.renewed)
	return false
}

// noteExamined says that the program with this identity was started, or why it was refused.
func (p *Plugin) noteExamined(program identity, refused error) {
	p.mu.Lock()
	p.examined, p.refused = program, refused
	p.mu.Unlock()
	p.changes.notify()
}
