// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/pluginsource"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// development has the plugins that piped runs, and has authors of plugins change them while the environment runs.
type development struct {
	env *Environment
	// changed gets a value when piped has to be started again with other plugins.
	changed chan struct{}

	mu      sync.Mutex
	plugins []workspace.Plugin
	// authors get what becomes of the builds, by the name of their plugin.
	authors map[string]func(*deckv1.DevelopPluginResponse)
	// wanted counts the changes of plugins; started is what the last piped was started with, connected what the last
	// one that has connected was.
	wanted, started, connected int
	// stirred is closed at the next piped that connects.
	stirred chan struct{}
}

func newDevelopment(e *Environment) *development {
	return &development{
		env: e, changed: make(chan struct{}, 1), plugins: e.Plugins,
		authors: map[string]func(*deckv1.DevelopPluginResponse){}, stirred: make(chan struct{}),
	}
}

// run builds a plugin from a directory and has piped run it under a name, until ctx ends: then piped gets back what it
// had. A plugin that the environment builds from the directory anyway stays as it is.
func (d *development) run(
	ctx context.Context, name, dir string, report func(*deckv1.DevelopPluginResponse),
) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return status.Errorf(codes.FailedPrecondition, "%s is not a directory of this machine; give that of the plugin",
			dir)
	}
	leave, former, err := d.enter(name, report)
	if err != nil {
		return err
	}
	defer leave()
	switch {
	case former != nil && former.Source != "" && same(former.Source, dir):
		report(taken(&deckv1.PluginTaken{Former: former.Source}))
		<-ctx.Done()
		return nil
	case former != nil && former.Source != "":
		return status.Errorf(codes.FailedPrecondition, "the environment builds plugin %s from %s; develop that "+
			"directory, or start the environment with: pipedeck up --plugin %s=%s", name, former.Source, name, dir)
	case d.env.Develop == nil:
		return status.Error(codes.FailedPrecondition, "this environment runs no plugin from its sources; start "+
			"another one with: pipedeck up")
	}
	plugin, err := d.env.Develop(name, dir, former)
	if err != nil {
		return status.Errorf(codes.FailedPrecondition, "%s; correct it and run this again", err)
	}
	plugin.URL = (&url.URL{Scheme: "file", Path: d.env.Workspace.PluginProgram(name)}).String()
	return d.develop(ctx, plugin, former, report)
}

// develop builds until ctx ends. piped gets the plugin once it compiles.
func (d *development) develop(
	ctx context.Context, plugin workspace.Plugin, former *workspace.Plugin, report func(*deckv1.DevelopPluginResponse),
) error {
	built := make(chan struct{})
	compiled := sync.OnceFunc(func() { close(built) })
	d.mu.Lock()
	d.authors[plugin.Name] = func(r *deckv1.DevelopPluginResponse) {
		report(r)
		if ended := r.GetEnded(); ended != nil && ended.GetError() == "" {
			compiled()
		}
	}
	d.mu.Unlock()
	var building sync.WaitGroup
	building.Go(func() { d.env.buildPlugin(ctx, plugin, func() {}) })
	defer func() {
		building.Wait()
		d.env.components.ready(pluginComponent(plugin), "no longer developed in "+plugin.Source)
	}()
	select {
	case <-built:
	case <-ctx.Done():
		return nil
	}
	defer d.replace(plugin.Name, former)
	if !d.await(ctx, d.replace(plugin.Name, &plugin)) {
		return nil
	}
	of := ""
	if former != nil {
		of = former.URL
	}
	report(taken(&deckv1.PluginTaken{Former: of, Restarted: true}))
	<-ctx.Done()
	return nil
}

func taken(t *deckv1.PluginTaken) *deckv1.DevelopPluginResponse {
	return &deckv1.DevelopPluginResponse{Kind: &deckv1.DevelopPluginResponse_Taken{Taken: t}}
}

// same reports whether two paths lead to one directory.
func same(one, other string) bool {
	a, errA := filepath.EvalSymlinks(one)
	b, errB := filepath.EvalSymlinks(other)
	return errors.Join(errA, errB) == nil && a == b
}

// enter makes a user the author of the plugin of a name, which is returned; nil for none.
func (d *development) enter(name string, report func(*deckv1.DevelopPluginResponse)) (
	leave func(), former *workspace.Plugin, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.authors[name] != nil {
		return nil, nil, status.Errorf(codes.FailedPrecondition,
			"plugin %s is being developed already; end that with Ctrl-C", name)
	}
	d.authors[name] = report
	if i := d.index(name); i >= 0 {
		copied := d.plugins[i]
		former = &copied
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.authors, name)
	}, former, nil
}

func (d *development) index(name string) int {
	return slices.IndexFunc(d.plugins, func(p workspace.Plugin) bool { return p.Name == name })
}

// replace changes the plugin of a name, nil for none, and has piped started again. It returns the number of the change.
func (d *development) replace(name string, plugin *workspace.Plugin) (change int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plugins = slices.Clone(d.plugins)
	switch i := d.index(name); {
	case i >= 0 && plugin != nil:
		d.plugins[i] = *plugin
	case i >= 0:
		d.plugins = slices.Delete(d.plugins, i, i+1)
	case plugin != nil:
		d.plugins = append(d.plugins, *plugin)
	}
	d.wanted++
	select {
	case d.changed <- struct{}{}:
	default:
	}
	return d.wanted
}

// await waits until a piped has connected that was started with a change; false when ctx ended before.
func (d *development) await(ctx context.Context, change int) bool {
	for {
		d.mu.Lock()
		connected, stirred := d.connected >= change, d.stirred
		d.mu.Unlock()
		if connected {
			return true
		}
		select {
		case <-stirred:
		case <-ctx.Done():
			return false
		}
	}
}

// renewed reports whether the plugins have changed since piped was given its configuration.
func (d *development) renewed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wanted > d.started
}

// present returns the plugins that piped is started with now.
func (d *development) present() []workspace.Plugin {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started = d.wanted
	return d.plugins
}

func (d *development) pipedConnected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connected = d.started
	close(d.stirred)
	d.stirred = make(chan struct{})
}

// began reports to the author of a plugin that a build has begun.
func (d *development) began(name string) {
	d.report(name, &deckv1.DevelopPluginResponse{Kind: &deckv1.DevelopPluginResponse_Began{
		Began: &deckv1.BuildBegan{Time: timestamppb.Now()}}})
}

// ended reports to the author of a plugin how a build has ended.
func (d *development) ended(name, program string, took time.Duration, err error) {
	if !d.hasAuthor(name) {
		return
	}
	end := &deckv1.BuildEnded{Time: timestamppb.Now(), Duration: durationpb.New(took)}
	if err == nil {
		end.Build, err = buildOf(program)
	}
	var broken *pluginsource.CompileError
	switch {
	case errors.As(err, &broken):
		end.Error = broken.Output
	case err != nil:
		end.Error = err.Error()
	}
	d.report(name, &deckv1.DevelopPluginResponse{Kind: &deckv1.DevelopPluginResponse_Ended{Ended: end}})
}

func (d *development) hasAuthor(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.authors[name] != nil
}

// report is under the lock, so that no one gets anything after having left.
func (d *development) report(name string, r *deckv1.DevelopPluginResponse) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if author := d.authors[name]; author != nil {
		author(r)
	}
}

// buildDigits is how much of a SHA-256 names a build, as in the calls of plugins.
const buildDigits = 12

// buildOf is the beginning of the SHA-256 of a program.
func buildOf(program string) (string, error) {
	file, err := os.Open(program)
	if err != nil {
		return "", fmt.Errorf("read the program of the plugin: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read the program of the plugin: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:buildDigits], nil
}
