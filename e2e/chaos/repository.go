// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/e2e/drive"
)

// Applications, named for the moment that they are used to reach.
const (
	appStage    = "stage"
	appApproval = "approval"
	appRollout  = "rollout"
	appRollback = "rollback"
)

// steadyApps are committed to without a pause, in turn: the history keeps 200 deployments of each.
var steadyApps = []string{"steady-0", "steady-1", "steady-2", "steady-3", "steady-4"}

// repository is the watched Git repository. Its methods may be called from several goroutines.
type repository struct {
	dir   string
	mu    sync.Mutex
	round int
	// order counts the commits by their hash.
	order map[string]int
}

// createRepository writes the applications; those of Kubernetes only where there is a cluster.
func createRepository(dir, self, ledger string, kubernetes bool) (*repository, error) {
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(ledger, 0o700)); err != nil {
		return nil, err
	}
	beat := func(app, step string, length time.Duration, more string) string {
		return fmt.Sprintf("'%s' beat -ledger '%s' -app %s -step %s -for %s%s", self, ledger, app, step, length, more)
	}
	script := func(app, step string, length time.Duration, more string) string {
		return "      - name: SCRIPT_RUN\n        with:\n          run: \"" + beat(app, step, length, more) + "\"\n"
	}
	files := map[string]string{
		appStage: script(appStage, "first", 1500*time.Millisecond, " -detach") +
			"      - name: WAIT\n        with:\n          duration: 1s\n" +
			script(appStage, "last", 300*time.Millisecond, ""),
		appApproval: script(appApproval, "first", 200*time.Millisecond, "") +
			"      - name: WAIT_APPROVAL\n" + script(appApproval, "last", 200*time.Millisecond, ""),
		appRollback: strings.TrimSuffix(script(appRollback, "first", 200*time.Millisecond, ""), "\n") +
			"\n          onRollback: \"" + beat(appRollback, "back", 1500*time.Millisecond, " -detach") + "\"\n" +
			"      - name: SCRIPT_RUN\n        with:\n          run: exit 3\n",
	}
	for _, app := range steadyApps {
		files[app] = script(app, "only", 200*time.Millisecond, "")
	}
	for app, stages := range files {
		if err := writeFiles(filepath.Join(dir, app),
			map[string]string{"app.pipecd.yaml": configuration(app, stages, ""), "round": "0\n"}); err != nil {
			return nil, err
		}
	}
	if kubernetes {
		stages := "      - name: K8S_CANARY_ROLLOUT\n        with:\n          replicas: 1\n" +
			"      - name: K8S_PRIMARY_ROLLOUT\n      - name: K8S_CANARY_CLEAN\n"
		if err := writeFiles(filepath.Join(dir, appRollout), map[string]string{
			"app.pipecd.yaml": configuration(appRollout, stages, "  plugins:\n    kubernetes: {}\n"),
			"deployment.yaml": manifest("0"), "service.yaml": service, "main.go": podProgram,
		}); err != nil {
			return nil, err
		}
		if err := writeFiles(dir, map[string]string{"go.mod": "module chaos\n\ngo 1.26\n"}); err != nil {
			return nil, err
		}
	}
	return &repository{dir: dir, order: map[string]int{}}, createGit(dir, nil)
}

// createGit writes files and commits everything in the directory to a new repository.
func createGit(dir string, files map[string]string) error {
	if err := writeFiles(dir, files); err != nil {
		return err
	}
	r := &repository{dir: dir}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "start"}} {
		if _, err := r.git(context.Background(), args...); err != nil {
			return err
		}
	}
	return nil
}

func configuration(app, stages, more string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + app +
		"\n  planner:\n    alwaysUsePipeline: true\n  pipeline:\n    stages:\n" + stages + more
}

func manifest(round string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: rollout
spec:
  replicas: 2
  minReadySeconds: 1
  selector:
    matchLabels: {app: rollout}
  template:
    metadata:
      labels: {app: rollout}
      annotations: {round: "` + round + `"}
    spec:
      containers:
        - name: main
          image: pipedeck.dev/rollout:v1
          ports: [{name: http, containerPort: 8080}]
          readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 1}
`
}

func writeFiles(dir string, files map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// commit changes an application and returns the hash of the commit.
func (r *repository) commit(ctx context.Context, app string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // a killed git leaves its lock
	r.round++
	files := map[string]string{"round": fmt.Sprintln(r.round)}
	if app == appRollout {
		files = map[string]string{"deployment.yaml": manifest(fmt.Sprint(r.round))}
	}
	if err := writeFiles(filepath.Join(r.dir, app), files); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, "add", "-A"); err != nil {
		return "", err
	}
	if _, err := r.git(ctx, "commit", "-qm", fmt.Sprintf("%s: round %d", app, r.round)); err != nil {
		return "", err
	}
	hash, err := r.git(ctx, "rev-parse", "HEAD")
	if err == nil {
		r.order[hash] = r.round
	}
	return hash, err
}

// deploymentOf returns the deployment that a commit of an application has caused, nil when there is none. It may be of
// a later commit: of commits that are seen together, the newest is deployed.
func (r *repository) deploymentOf(c content, app, commit string) *deckv1.Deployment {
	r.mu.Lock()
	defer r.mu.Unlock()
	var first *deckv1.Deployment
	at := func(d *deckv1.Deployment) int { return r.order[d.GetCommit().GetHash()] }
	for _, d := range c.deployments {
		if d.GetApplicationName() == app && at(d) >= r.order[commit] && (first == nil || at(d) < at(first)) {
			first = d
		}
	}
	return first
}

func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	return drive.Git(ctx, r.dir, args...)
}
