// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// ReportPlugins replaces what is known of a piped's plugin processes.
func (p *Pipeds) ReportPlugins(pipedID string, plugins []*agentv1.Plugin) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(pipedID)
	if err != nil {
		return err
	}
	before := one.shownPlugins()
	one.plugins = make([]*agentv1.Plugin, 0, len(plugins))
	for _, plugin := range plugins {
		plugin = proto.CloneOf(plugin)
		plugin.Detail = p.ledger.withFlags(plugin.GetDetail())
		one.plugins = append(one.plugins, plugin)
	}
	one.pluginsStale = false
	p.publishPlugins(one, before)
	return nil
}

// RestartPlugin asks the piped that runs the plugin to restart it. An empty pipedID is the only piped with a
// plugin of that name; FailedPrecondition when there are more, and for a plugin whose changed program does not start.
func (p *Pipeds) RestartPlugin(pipedID, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var running []*piped
	for _, one := range p.inOrder() {
		if (pipedID == "" || pipedID == one.model.GetId()) && one.shows(name) {
			running = append(running, one)
		}
	}
	switch {
	case len(running) == 0:
		return notFound("no plugin is named %q; the plugins pane and `pipedeck plugins` list their names", name)
	case len(running) > 1:
		return precondition("%d pipeds run a plugin %q; name the piped, for example %s", len(running), name,
			running[0].model.GetName())
	case running[0].keeps(name) != "":
		return precondition("plugin %q is not restarted, because its process would end and none could take its place: "+
			"%s; fix the program, which is started as soon as it changes", name, running[0].keeps(name))
	case !p.signals.restart(running[0].model.GetId(), name):
		return precondition("plugin %q cannot be restarted: its piped is not connected, or is one that cannot restart "+
			"plugins; wait until piped is back, or restart piped", name)
	}
	return nil
}

// shows reports whether users see a plugin of that name.
func (p *piped) shows(name string) bool {
	return slices.ContainsFunc(p.shownPlugins(), func(plugin *agentv1.Plugin) bool { return plugin.GetName() == name })
}

// keeps says why a plugin goes on with its program from before; empty for one that does not.
func (p *piped) keeps(name string) string {
	for _, plugin := range p.shownPlugins() {
		if plugin.GetName() == name && plugin.GetChangedBinaryFails() {
			return plugin.GetDetail()
		}
	}
	return ""
}

// shownPlugins returns the plugins as users should see them: stopped when their piped is gone, and
// only by name when the piped does not report processes (PipeCD's own piped does not).
func (p *piped) shownPlugins() []*agentv1.Plugin {
	if p.plugins == nil && !p.polls {
		return nil // it has just started and will report them
	}
	if p.plugins == nil {
		var plugins []*agentv1.Plugin
		for _, m := range p.model.GetPlugins() {
			plugins = append(plugins, &agentv1.Plugin{
				Name: m.GetName(), DeployTargets: m.GetDeployTargets(),
				Detail: "this piped does not report plugin processes, so one that has ended is not noticed",
			})
		}
		return plugins
	}
	if !p.pluginsStale {
		return p.withPlaces(p.plugins)
	}
	gone := make([]*agentv1.Plugin, 0, len(p.plugins))
	for _, plugin := range p.plugins {
		g := proto.CloneOf(plugin)
		g.State, g.Pid, g.RssBytes, g.CpuPercent = agentv1.Plugin_STATE_STOPPED, 0, 0, 0
		g.Detail, g.ChangedBinaryFails, g.Held, g.Attached = "piped is not connected", false, false, ""
		gone = append(gone, g)
	}
	return gone
}

// SetHeldPlace says where a debugger of the environment holds a process of a plugin of the own piped; an empty place is
// for one that runs. Without a process, the debugger holds none.
func SetHeldPlace(p *Pipeds, plugin string, process bool, place string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(p.own)
	if err != nil {
		return
	}
	before := one.shownPlugins()
	if one.places == nil {
		one.places = map[string]string{}
	}
	if one.places[plugin] = place; !process {
		delete(one.places, plugin)
	}
	p.publishPlugins(one, before)
}

// withPlaces returns the plugins with the places where they are held.
func (p *piped) withPlaces(plugins []*agentv1.Plugin) []*agentv1.Plugin {
	shown := make([]*agentv1.Plugin, 0, len(plugins))
	for _, plugin := range plugins {
		place, debugged := p.places[plugin.GetName()]
		switch {
		case !debugged || plugin.GetPid() == 0 || plugin.GetAttached() != "":
		case place != "":
			plugin = proto.CloneOf(plugin)
			plugin.Held, plugin.HeldAt = true, place
			plugin.Detail = "held by a debugger at " + place + ": no clock runs"
		case plugin.GetHeld(): // the place follows, or it has just been let go
			plugin = proto.CloneOf(plugin)
			plugin.Held, plugin.Detail = false, "runs under a debugger: no clock runs"
		}
		shown = append(shown, plugin)
	}
	return shown
}

// publishPlugins publishes how the plugins of a piped differ from what was shown before. The caller holds p.mu.
func (p *Pipeds) publishPlugins(one *piped, before []*agentv1.Plugin) {
	old := map[string]*agentv1.Plugin{}
	for _, plugin := range before {
		old[plugin.GetName()] = plugin
	}
	for _, plugin := range one.shownPlugins() {
		if !proto.Equal(old[plugin.GetName()], plugin) {
			p.ledger.publish(Change{Plugin: plugin, PipedID: one.model.GetId()})
		}
		delete(old, plugin.GetName())
	}
	for name := range old {
		p.ledger.publish(Change{RemovedPlugin: name, PipedID: one.model.GetId()})
	}
}
