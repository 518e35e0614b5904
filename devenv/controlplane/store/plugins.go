// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// ReportPlugins replaces what is known of a piped's plugin processes.
func (s *Store) ReportPlugins(pipedID string, plugins []*agentv1.Plugin) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(pipedID)
	if err != nil {
		return err
	}
	before := p.shownPlugins()
	p.plugins = make([]*agentv1.Plugin, 0, len(plugins))
	for _, plugin := range plugins {
		p.plugins = append(p.plugins, proto.CloneOf(plugin))
	}
	p.pluginsStale = false
	s.publishPlugins(p, before)
	return nil
}

// RestartPlugin asks the piped that runs the plugin to restart it. An empty pipedID is the only piped with a
// plugin of that name; FailedPrecondition when there are more.
func (s *Store) RestartPlugin(pipedID, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var running []*piped
	for _, p := range sorted(s.pipeds, func(a, b *piped) int { return cmp.Compare(a.model.GetId(), b.model.GetId()) }) {
		if (pipedID == "" || pipedID == p.model.GetId()) &&
			slices.ContainsFunc(p.shownPlugins(), func(plugin *agentv1.Plugin) bool { return plugin.GetName() == name }) {
			running = append(running, p)
		}
	}
	switch {
	case len(running) == 0:
		return notFound("no plugin is named %q; the plugins pane and `pipedeck plugins` list their names", name)
	case len(running) > 1:
		return precondition("%d pipeds run a plugin %q; name the piped, for example %s", len(running), name, running[0].model.GetName())
	case len(running[0].watches) == 0:
		return precondition("plugin %q cannot be restarted: its piped is not connected, or is one that cannot restart "+
			"plugins; wait until piped is back, or restart piped", name)
	}
	for w := range running[0].watches {
		w.restart(name)
	}
	return nil
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
				Detail: "this piped does not report plugin processes",
			})
		}
		return plugins
	}
	if !p.pluginsStale {
		return p.plugins
	}
	gone := make([]*agentv1.Plugin, 0, len(p.plugins))
	for _, plugin := range p.plugins {
		g := proto.CloneOf(plugin)
		g.State, g.Pid, g.RssBytes, g.CpuPercent = agentv1.Plugin_STATE_STOPPED, 0, 0, 0
		g.Detail = "piped is not connected"
		gone = append(gone, g)
	}
	return gone
}

// publishPlugins publishes how the plugins of p differ from what was shown before.
func (s *Store) publishPlugins(p *piped, before []*agentv1.Plugin) {
	old := map[string]*agentv1.Plugin{}
	for _, plugin := range before {
		old[plugin.GetName()] = plugin
	}
	for _, plugin := range p.shownPlugins() {
		if !proto.Equal(old[plugin.GetName()], plugin) {
			s.publish(Change{Plugin: plugin, PipedID: p.model.GetId()})
		}
		delete(old, plugin.GetName())
	}
	for name := range old {
		s.publish(Change{RemovedPlugin: name, PipedID: p.model.GetId()})
	}
}
