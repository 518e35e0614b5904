// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/devenv/pluginsource"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/exhaustion"
)

// builds are the first builds of the plugins that are given as Go packages: piped is started after them.
type builds []<-chan struct{}

func (b builds) wait(ctx context.Context) error {
	for _, done := range b {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// buildPlugins builds these plugins now and after each change of their sources, until ctx ends.
func (e *Environment) buildPlugins(ctx context.Context, children *errgroup.Group) builds {
	var first builds
	for _, plugin := range e.Plugins {
		if plugin.Source == "" {
			continue
		}
		done := make(chan struct{})
		first = append(first, done)
		children.Go(func() error {
			finished := sync.OnceFunc(func() { close(done) })
			defer finished()
			e.buildPlugin(ctx, plugin, finished)
			return nil
		})
	}
	return first
}

// buildPlugin reports each build by the plugin's component. A plugin that does not compile ends nothing: the next save
// may fix it. Sources that cannot be watched are tried again, since the system may have watches left later.
func (e *Environment) buildPlugin(ctx context.Context, plugin workspace.Plugin, finished func()) {
	source := &pluginsource.Source{Dir: plugin.Source, Program: e.Workspace.PluginProgram(plugin.Name),
		Debug: plugin.Debug != "", Logger: e.Logger}
	component, built := pluginComponent(plugin), false
	began := func() {
		e.development.began(plugin.Name)
		e.components.starting(component, "compiling "+plugin.Source)
	}
	ended := func(took time.Duration, err error) {
		e.development.ended(plugin.Name, source.Program, took, err)
		took = took.Round(10 * time.Millisecond)
		switch {
		case err == nil:
			built = true
			e.Logger.Info("plugin built", "plugin", plugin.Name, "took", took)
			e.components.ready(component, fmt.Sprintf("%s, built in %s; saving a file builds it again", plugin.Source,
				took))
		default:
			e.Logger.Warn("plugin does not compile", "plugin", plugin.Name, "error", err)
			hint := "save a corrected file: it is built again"
			if built {
				hint = "the plugin runs as it compiled last; " + hint
			}
			var broken *pluginsource.CompileError
			if errors.As(err, &broken) {
				err = errors.New(broken.Line()) // a component is shown in one line
			}
			e.components.failed(component, err, hint)
		}
		finished()
	}
	for {
		err := source.Run(ctx, began, ended)
		if err == nil {
			break
		}
		e.components.failed(component, err, cmp.Or(exhaustion.WatchAdvice(err), "start again with: pipedeck up"))
		finished()
		if !clock.Sleep(ctx, lookInterval) {
			break
		}
	}
	e.components.stopped(component)
}

func pluginComponent(plugin workspace.Plugin) string { return "plugin " + plugin.Name }
