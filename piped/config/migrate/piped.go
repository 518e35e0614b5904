// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"
	"strconv"
	"strings"
)

// firstPort is where the ports of added plugins begin.
const firstPort = 7001

// stagePlugins offer the stages that every piped of v0 had built in.
var stagePlugins = []string{"wait", "waitapproval", "scriptrun"}

// pluginOfProvider are the plugins that took over the types of platform providers.
var pluginOfProvider = map[string]string{
	"KUBERNETES": "kubernetes", "TERRAFORM": "terraform", "ECS": "ecs", "CLOUDRUN": "cloudrun", "LAMBDA": "lambda",
}

func (m *migration) piped(spec *entry) *stop {
	if spec.isEmpty() {
		return nil
	}
	body := spec.opened()
	if body == nil {
		return &stop{spec.line, "spec", "is written in a form that is not rewritten; write each of its keys on a " +
			"separate line"}
	}
	old := func(e *entry) bool {
		return slices.Contains([]string{"platformProviders", "cloudProviders", "analysisProviders", "chartRepositories",
			"chartRegistries"}, e.key)
	}
	first := slices.IndexFunc(body.entries, old)
	if first < 0 {
		return nil
	}
	line := body.entries[first].line
	p := &piped{migration: m, spec: body, ports: map[int]bool{}}
	if err := p.pluginList(first); err != nil {
		return err
	}
	for _, step := range []func() *stop{p.providers, p.charts, p.analysis} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, name := range stagePlugins {
		p.plugin(name, nil)
	}
	if len(p.missing) > 0 {
		p.note(line, []any{"spec", "plugins"}, "fill in the url of these plugins, which were parts of piped in "+
			"PipeCD v0: %s", strings.Join(p.missing, ", "))
	}
	m.changed = true
	return nil
}

type piped struct {
	*migration
	spec  *mapping
	list  *sequence
	ports map[int]bool
	// missing are the plugins whose URL is not known.
	missing []string
}

// newSequence is an entry whose dashes stand as those of the file do.
func (p *piped) newSequence(key string) *entry {
	e := newSequence(key)
	for _, other := range p.spec.entries {
		if other.sequence != nil {
			e.offset = other.offset
			break
		}
	}
	return e
}

// pluginList finds or makes spec.plugins.
func (p *piped) pluginList(first int) *stop {
	plugins := p.spec.find("plugins")
	if plugins == nil {
		plugins = p.newSequence("plugins")
		plugins.indent = p.spec.indent
		plugins.lead = p.spec.entries[first].takeBlanks()
		p.spec.insert(first, plugins)
	}
	p.list = plugins.openedSequence()
	if p.list == nil {
		if !plugins.isEmpty() {
			return &stop{plugins.line, field(plugins.path),
				"is written in a form that is not rewritten; write each of its entries on a separate line"}
		}
		plugins.openHead()
		plugins.sequence, plugins.rest, plugins.offset = &sequence{}, nil, 2
		p.list = plugins.sequence
	}
	for _, it := range p.list.items {
		if _, value := (&entry{node: it.node}).at("port"); value != nil {
			if port, err := strconv.Atoi(value.Value); err == nil {
				p.ports[port] = true
			}
		}
	}
	return nil
}

// plugin finds or makes the entry of a plugin; comments go above one that is made.
func (p *piped) plugin(name string, comments []string) *mapping {
	for _, it := range p.list.items {
		if _, value := (&entry{node: it.node}).at("name"); it.mapping.find("name").text() == name ||
			(value != nil && value.Value == name) {
			it.lead = append(align(comments, it.indent), it.lead...)
			return it.opened()
		}
	}
	url, known := p.options.PluginURLs[name]
	if !known {
		url = "file:///path/to/" + name
		p.missing = append(p.missing, name)
	}
	port := firstPort
	for p.ports[port] {
		port++
	}
	p.ports[port] = true
	address := p.text("url", url)
	if !known {
		address.head += " # to be filled in: where the binary of the plugin is"
	}
	it := newItem(p.text("name", name), address, p.scalar("port", strconv.Itoa(port)))
	it.lead = align(comments, 0)
	p.list.items = append(p.list.items, it)
	return it.mapping
}

// providers makes each platform provider a deploy target of its plugin.
func (p *piped) providers() *stop {
	for _, key := range []string{"platformProviders", "cloudProviders"} {
		old := p.spec.find(key)
		if old == nil {
			continue
		}
		items, err := p.items(old)
		if err != nil {
			return err
		}
		comments := old.comments()
		if len(items) == 0 {
			p.spec.drop(old)
			continue
		}
		p.spec.cut(old)
		last := items[len(items)-1]
		last.tail = append(last.tail, old.tail...)
		for _, it := range items {
			moved, err := p.provider(it, comments)
			if err != nil {
				return err
			}
			if moved {
				comments = nil
			}
		}
	}
	return nil
}

// provider reports whether the provider has been moved; comments go above its plugin then.
func (p *piped) provider(it *item, comments []string) (bool, *stop) {
	body := it.opened()
	if body == nil {
		return false, &stop{it.line, field(it.path), "is written in a form that is not rewritten (an alias, or no " +
			"mapping); write each of its keys on a separate line"}
	}
	kind := body.find("type")
	name := pluginOfProvider[kind.text()]
	if name == "" {
		p.note(it.line, it.path, "is left out: its type %q is none of KUBERNETES, TERRAFORM, ECS, CLOUDRUN and LAMBDA",
			kind.text())
		p.removed = append(p.removed, it.path)
		return false, nil
	}
	p.drop(body, kind)
	p.providerNotes(name, it, body)
	plugin := p.plugin(name, comments)
	targets := plugin.find("deployTargets")
	if targets == nil {
		targets = p.newSequence("deployTargets")
		plugin.add(targets)
	}
	list := targets.openedSequence()
	if list == nil {
		if !targets.isEmpty() {
			return false, &stop{targets.line, field(targets.path),
				"is written in a form that is not rewritten; write each of its entries on a separate line"}
		}
		targets.openHead()
		targets.sequence, targets.rest, targets.offset = &sequence{}, nil, 2
		list = targets.sequence
	}
	list.items = append(list.items, it)
	return true, nil
}

// providerNotes reports what the plugins of PipeCD v1 do not do with settings that are kept.
func (p *piped) providerNotes(plugin string, it *item, body *mapping) {
	config := body.find("config")
	switch plugin {
	case "lambda":
		p.note(it.line, it.path, "there is no plugin for Lambda in PipeCD v1: the deploy target is kept, and "+
			"nothing deploys to it")
	case "cloudrun":
		p.note(it.line, it.path, "the Cloud Run plugin of PipeCD v1 is not finished: the deploy target is kept")
	case "kubernetes":
		if url, _ := config.at("masterURL"); url != nil {
			p.note(url.Line, join(config.path, "masterURL"),
				"is kept, but the kubernetes plugin of PipeCD v1 uses it for the live state only; put the address "+
					"into the kubeconfig")
		}
	case "terraform":
		if drift, _ := config.at("driftDetectionEnabled"); drift != nil {
			p.note(drift.Line, join(config.path, "driftDetectionEnabled"),
				"is kept, but the terraform plugin of PipeCD v1 does not read it")
		}
	}
}

// charts moves chart repositories and registries into the configuration of the kubernetes plugin.
func (p *piped) charts() *stop {
	for _, key := range []string{"chartRepositories", "chartRegistries"} {
		old := p.spec.find(key)
		if old == nil {
			continue
		}
		items, err := p.items(old)
		if err != nil {
			return err
		}
		var kept []*item
		for _, it := range items {
			if p.fromGit(it) {
				p.note(it.line, it.path, "is left out: PipeCD v1 takes no charts from a Git repository; use a "+
					"chart repository or a registry")
				p.removed = append(p.removed, it.path)
				continue
			}
			if key := it.opened().find("sshKeyFile"); key != nil { // Of no use without gitRemote.
				p.note(key.line, key.path, "is left out: PipeCD v1 takes no charts from a Git repository")
				p.drop(it.mapping, key)
			}
			kept = append(kept, it)
		}
		if len(kept) == 0 {
			p.spec.drop(old)
			continue
		}
		old.sequence.items = kept
		if err := p.intoConfig("kubernetes", old); err != nil {
			return err
		}
	}
	return nil
}

func (p *piped) fromGit(it *item) bool {
	e := &entry{node: it.node}
	remote, _ := e.at("gitRemote")
	_, kind := e.at("type")
	return remote != nil || (kind != nil && kind.Value == "GIT")
}

func (p *piped) analysis() *stop {
	old := p.spec.find("analysisProviders")
	if old == nil {
		return nil
	}
	items, err := p.items(old)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		p.spec.drop(old)
		return nil
	}
	return p.intoConfig("analysis", old)
}

// intoConfig moves an entry of spec into the configuration of a plugin.
func (p *piped) intoConfig(plugin string, e *entry) *stop {
	body := p.plugin(plugin, nil)
	settings := body.find("config")
	if settings == nil {
		settings = newMapping("config")
		i := 0
		for i < len(body.entries) && body.entries[i].key != "deployTargets" {
			i++
		}
		body.insert(i, settings)
	}
	if settings.opened() == nil {
		if !settings.isEmpty() {
			return &stop{settings.line, field(settings.path),
				"is written in a form that is not rewritten; write each of its keys on a separate line"}
		}
		settings.makeMapping()
	}
	if settings.mapping.find(e.key) != nil {
		p.note(e.line, e.path, "is left out: the plugin %s has %s already", plugin, e.key)
		p.drop(p.spec, e)
		return nil
	}
	e.takeBlanks()
	p.spec.cut(e)
	settings.mapping.add(e)
	return nil
}

// items are the entries of a list, none when it is empty.
func (p *piped) items(e *entry) ([]*item, *stop) {
	if list := e.openedSequence(); list != nil {
		return list.items, nil
	}
	if e.isEmpty() {
		return nil, nil
	}
	return nil, &stop{e.line, field(e.path), "is written in a form that is not rewritten (" +
		strings.TrimSpace(e.node.Tag+" ") + "); write each of its entries on a separate line"}
}
