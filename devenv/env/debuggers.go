// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pipedeck/pipedeck/devenv/debugger"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// debuggers are those of the plugins of an environment.
type debuggers struct{ env *Environment }

// run runs a debugger for each plugin that is debugged, until ctx ends.
func (d debuggers) run(ctx context.Context, children *errgroup.Group) {
	for _, plugin := range d.env.Plugins {
		if plugin.Debug != "" {
			children.Go(func() error { return d.debug(ctx, plugin) })
		}
	}
}

// debug reports by the debugger's component. Without a debugger the plugin works as any other.
func (d debuggers) debug(ctx context.Context, plugin workspace.Plugin) error {
	e := d.env
	component := debuggerComponent(plugin)
	e.components.starting(component, "waiting for the process of the plugin")
	defer e.components.stopped(component)
	delve, err := debugger.Find()
	if err != nil {
		e.components.failed(component, err, "run: "+debugger.Install+"; then: "+e.startAgain())
		<-ctx.Done()
		return nil
	}
	how := "dlv connect " + plugin.Debug
	if written := d.launchConfigurations(plugin); written != "" {
		how += "; " + written
	}
	one := &debugger.Debugger{
		Delve: delve, Address: plugin.Debug, Source: plugin.Source,
		LogFile: filepath.Join(e.Workspace.Path("logs"), "debugger-"+plugin.Name+".log"),
		Next: func(ctx context.Context, pid int) (int, error) {
			next, err := e.server.AwaitPluginProcess(ctx, plugin.Name, pid)
			if err == nil && pid == 0 {
				e.server.SetHeldPlace(plugin.Name, true, "") // what it does while it is being attached is no news
			}
			return next, err
		},
		Report: func(s debugger.Status) {
			e.server.SetHeldPlace(plugin.Name, s.PID != 0, s.At)
			switch {
			case s.Err != nil:
				e.Logger.Warn("the debugger of a plugin has ended", "plugin", plugin.Name, "error", s.Err)
				e.components.failed(component, s.Err, "the next process of the plugin is tried again: pipedeck "+
					"restart "+plugin.Name+e.Flags)
			case s.PID == 0:
				e.components.ready(component, "no process to debug: the plugin does not run, or is being started again")
			case s.At != "":
				e.components.ready(component, fmt.Sprintf("process %d is held at %s: %s", s.PID, s.At, how))
			default:
				e.components.ready(component, fmt.Sprintf("process %d runs; set breakpoints: %s", s.PID, how))
			}
		},
	}
	return one.Run(ctx)
}

// launchConfigurations says which editors find the debugger; empty for none.
func (d debuggers) launchConfigurations(plugin workspace.Plugin) string {
	_, text, _ := net.SplitHostPort(plugin.Debug)
	port, err := strconv.Atoi(text)
	if err != nil || plugin.Source == "" {
		return ""
	}
	written, err := debugger.WriteLaunchConfigurations(plugin.Source, plugin.Name, port)
	if err != nil {
		d.env.Logger.Warn("cannot write launch configurations for editors", "plugin", plugin.Name, "error", err)
	}
	if len(written) == 0 {
		return ""
	}
	for i, path := range written {
		if within, err := filepath.Rel(plugin.Source, path); err == nil {
			written[i] = within
		}
	}
	return "wrote " + strings.Join(written, " and ") + " for your editor"
}

func debuggerComponent(plugin workspace.Plugin) string { return "debugger " + plugin.Name }
