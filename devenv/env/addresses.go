// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
	"github.com/pipedeck/pipedeck/devenv/services"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// firstFollow and longestFollow bound the pauses before a cluster is followed again that has ended its answer.
	firstFollow, longestFollow = 100 * time.Millisecond, 5 * time.Second
)

// addresses are where the Services of all clusters answer on this machine, as far as the clusters say so: shown with
// the applications, and in a file for scripts, which is replaced by rename at each change.
type addresses struct {
	env *Environment

	mu sync.Mutex
	// known are the Services of each cluster, by its name; nil before the first.
	known   map[string]services.Published
	written []byte
}

// file is the file for scripts.
func (a *addresses) file() string { return a.env.Workspace.Path("services.env") }

// begin removes what an earlier run has left: nothing answers there now.
func (a *addresses) begin() error {
	for _, path := range []string{a.file(), workspace.ReattachFile(a.env.Workspace)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.MkdirAll(filepath.Dir(workspace.ReattachFile(a.env.Workspace)), 0o700)
}

// follow keeps the addresses of one cluster until ctx ends. When the cluster does not answer, the last ones stay: it
// gives Services the same ones again.
func (a *addresses) follow(ctx context.Context, c *runningCluster) {
	pauses := clock.NewBackoff(firstFollow, longestFollow)
	for {
		err := a.followOnce(ctx, c, pauses)
		if ctx.Err() != nil {
			return
		}
		a.env.Logger.Debug("the addresses of services are read again", "cluster", c.name, "error", err)
		if pauses.Wait(ctx, clock.System{}) != nil {
			return
		}
	}
}

func (a *addresses) followOnce(ctx context.Context, c *runningCluster, pauses *clock.Backoff) error {
	api, err := kubeapi.Connect(c.provider.Describe().Kubeconfig)
	if err != nil {
		return err
	}
	defer api.Close()
	return services.Follow(ctx, api, func(p services.Published) {
		pauses.Reset()
		a.set(c.name, p)
	})
}

// set takes over the addresses of one cluster.
func (a *addresses) set(cluster string, p services.Published) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]services.Published{}
	}
	a.known[cluster] = p
	urls := map[string]string{}
	for _, c := range slices.Backward(a.env.clusters) { // the first cluster's win
		maps.Copy(urls, a.known[c.name].Answering(a.env.server.ApplicationName))
	}
	a.env.server.SetURLs(urls)
	content := a.variables()
	if bytes.Equal(content, a.written) {
		return
	}
	if err := workspace.WriteFile(a.file(), content); err != nil {
		a.env.Logger.Warn("scripts do not get the addresses of services", "error", err)
		return
	}
	a.written = content
}

// variables is the content of the file: a line NAME=VALUE for each variable. The cluster is part of the names where the
// environment has several. The caller holds a.mu.
func (a *addresses) variables() []byte {
	all := map[string]string{}
	for cluster, published := range a.known {
		if len(a.env.clusters) == 1 {
			cluster = ""
		}
		maps.Copy(all, published.Variables(cluster))
	}
	var content bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&content, "%s=%s\n", name, all[name])
	}
	return content.Bytes()
}
