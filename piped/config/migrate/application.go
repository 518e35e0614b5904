// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// pluginOfKind are the plugins that took over the kinds of PipeCD v0.
var pluginOfKind = map[string]string{
	"KubernetesApp": "kubernetes", "TerraformApp": "terraform", "ECSApp": "ecs", "CloudRunApp": "cloudrun",
	"LambdaApp": "lambda",
}

// pluginKeys are the keys of spec that belong to a plugin now.
var pluginKeys = []string{"input", "quickSync", "service", "workloads", "trafficRouting", "variantLabel"}

func (m *migration) application(kind, spec *entry) *stop {
	plugin := pluginOfKind[kind.text()]
	old := plugin != ""
	if !old && spec.isEmpty() {
		return nil
	}
	if spec == nil {
		spec = newMapping("spec")
		m.root.add(spec)
	} else if spec.isEmpty() {
		spec.makeMapping()
	}
	body := spec.opened()
	if body == nil {
		return &stop{spec.line, "spec", "is written in a form that is not rewritten; write each of its keys on a " +
			"separate line"}
	}
	if old {
		if plugin == "kubernetes" && named(body, "kubernetes") == nil && named(body, "kubernetes_multicluster") != nil {
			plugin = "kubernetes_multicluster"
		}
		m.replace(kind, config.KindApplication)
	} else {
		plugin = pluginOf(body)
	}
	if plugin == "lambda" {
		m.note(kind.line, kind.path, "there is no plugin for Lambda in PipeCD v1: the settings are moved to "+
			"plugins.lambda, and nothing reads them")
	}
	a := &application{migration: m, spec: body, plugin: plugin, old: old}
	for _, step := range []func() *stop{a.rollback, a.routes, a.stages, a.customArguments, a.misplaced, a.settings} {
		if err := step(); err != nil {
			return err
		}
	}
	a.chain()
	return nil
}

// named is what the file says below plugins of a plugin, nil for nothing.
func named(spec *mapping, plugin string) *entry { return spec.find("plugins").opened().find(plugin) }

// pluginOf guesses whose settings a file of kind Application holds.
func pluginOf(spec *mapping) string {
	var found []string
	for _, name := range []string{"kubernetes", "kubernetes_multicluster", "terraform", "ecs", "cloudrun", "lambda"} {
		if named(spec, name) != nil {
			found = append(found, name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}

type application struct {
	*migration
	spec   *mapping
	plugin string
	// old reports that the kind was one of v0.
	old bool
	// usesNamespace reports that a query has been changed to take the namespace from appCustomArgs.
	usesNamespace bool
}

// rollback moves input.autoRollback to the planner.
func (a *application) rollback() *stop {
	input := a.spec.find("input")
	if key, _ := input.at("autoRollback"); key == nil {
		return nil
	}
	if input.opened() == nil {
		return a.cannotOpen(input)
	}
	old := input.mapping.find("autoRollback")
	if old == nil {
		return a.cannotOpen(input) // It comes from a merge key.
	}
	planner := a.spec.find("planner")
	if said, _ := planner.at("autoRollback"); said != nil {
		a.note(old.line, old.path, "is left out: planner.autoRollback is there already and wins")
		a.drop(input.mapping, old)
		a.dropEmpty(a.spec, input)
		return nil
	}
	if planner == nil {
		planner = newMapping("planner")
		a.spec.insert(slices.Index(a.spec.entries, input), planner)
	}
	body, err := a.room(planner)
	if err != nil {
		return err
	}
	input.mapping.cut(old)
	body.add(old)
	a.changed = true
	a.dropEmpty(a.spec, input)
	return nil
}

// routes leaves out what no plugin reads any more.
func (a *application) routes() *stop {
	if routes := a.spec.find("resourceRoutes"); routes != nil {
		a.note(routes.line, routes.path, "is left out: PipeCD v1 has no routing of resources to several "+
			"providers; use one application for each deploy target")
		a.drop(a.spec, routes)
	}
	return nil
}

// settings moves the plugin's keys below plugins.
func (a *application) settings() *stop {
	first := a.firstSetting()
	if first >= 0 && a.plugin == "" {
		e := a.spec.entries[first]
		return &stop{e.line, field(e.path), "is a key of PipeCD v0, but the kind does not say which plugin it is " +
			"for; write the kind of v0, such as KubernetesApp, and run it again"}
	}
	if first < 0 && (!a.old || a.plugin == "" || a.hasPlugin()) {
		return nil
	}
	target, err := a.pluginMapping()
	if err != nil {
		return err
	}
	if a.plugin == "ecs" && a.old && a.spec.find("input") == nil && target.find("input") == nil {
		input := newMapping("input")
		input.mapping.add(a.scalar("runStandaloneTask", "true"))
		target.add(input)
	}
	for _, key := range pluginKeys {
		e := a.spec.find(key)
		if e == nil {
			continue
		}
		if err := a.adapt(e); err != nil {
			return err
		}
		if a.spec.find(key) == nil {
			continue // Nothing of it was left.
		}
		a.changed = true
		if key == "input" && a.plugin == "terraform" {
			if err := a.spread(a.spec, e, target); err != nil {
				return err
			}
			continue
		}
		if target.find(key) != nil {
			a.note(e.line, e.path, "is left out: plugins.%s.%s is there already and wins", a.plugin, key)
			a.drop(a.spec, e)
			continue
		}
		a.spec.cut(e)
		target.add(e)
	}
	return nil
}

// hasPlugin reports whether the file names a plugin that deploys it already. An empty entry of a plugin in addition
// would deploy the application twice.
func (a *application) hasPlugin() bool {
	body := a.spec.find("plugins").opened()
	if body == nil || a.plugin == "ecs" && body.find("ecs").isEmpty() {
		return false
	}
	return slices.ContainsFunc(body.entries, func(e *entry) bool { return !slices.Contains(stagesOnly, e.key) })
}

// stagesOnly are the plugins of PipeCD v1 that run stages and do not deploy.
var stagesOnly = []string{"analysis", "scriptrun", "wait", "waitapproval"}

// misplaced moves plugins.terraform.input, as pipectl writes it, to where the plugin reads it.
func (a *application) misplaced() *stop {
	plugins := a.spec.find("plugins")
	if found, _ := plugins.at("terraform", "input"); found == nil {
		return nil
	}
	own := plugins.opened().find("terraform")
	body := own.opened()
	input := body.find("input")
	if input == nil {
		return a.cannotOpen(plugins)
	}
	if input.isEmpty() {
		a.drop(body, input)
		return nil
	}
	return a.spread(body, input, body)
}

// pluginMapping is plugins.<plugin>. It is made for an application without settings, too: without a
// pipeline, it is what chooses the plugin.
func (a *application) pluginMapping() (*mapping, *stop) {
	plugins, err := a.plugins()
	if err != nil {
		return nil, err
	}
	own := plugins.find(a.plugin)
	if own == nil {
		own = newMapping(a.plugin)
		plugins.insert(0, own)
		a.changed = true
	}
	return a.room(own)
}

// plugins is spec.plugins, made where the first of the plugin's keys is, or at the end.
func (a *application) plugins() (*mapping, *stop) {
	plugins := a.spec.find("plugins")
	if plugins == nil {
		plugins = newMapping("plugins")
		plugins.indent = a.spec.indent
		if first := a.firstSetting(); first < 0 {
			a.spec.add(plugins)
		} else {
			plugins.lead = a.spec.entries[first].takeBlanks()
			a.spec.insert(first, plugins)
		}
	}
	return a.room(plugins)
}

func (a *application) firstSetting() int {
	return slices.IndexFunc(a.spec.entries, func(e *entry) bool { return slices.Contains(pluginKeys, e.key) })
}

// room is the mapping of an entry, made when the entry is empty.
func (a *application) room(e *entry) (*mapping, *stop) {
	if e.opened() != nil {
		return e.mapping, nil
	}
	if !e.isEmpty() {
		return nil, a.cannotOpen(e)
	}
	e.makeMapping()
	return e.mapping, nil
}

// spread moves the keys in input to where the terraform plugin of v1 reads them: next to each other.
func (a *application) spread(from *mapping, input *entry, target *mapping) *stop {
	body := input.opened()
	if body == nil {
		return a.cannotOpen(input)
	}
	comments := input.comments()
	for _, e := range slices.Clone(body.entries) {
		body.cut(e)
		if target.find(e.key) != nil {
			a.note(e.line, e.path, "is left out: plugins.terraform.%s is there already and wins", e.key)
			a.removed = append(a.removed, e.path)
			continue
		}
		e.lead = append(align(comments, e.indent), e.lead...)
		comments = nil
		target.add(e)
	}
	if len(target.entries) > 0 {
		last := target.entries[len(target.entries)-1]
		last.tail = append(last.tail, align(input.tail, last.indent)...)
	}
	from.cut(input)
	a.changed = true
	return nil
}

// adapt changes what a plugin of v1 reads differently.
func (a *application) adapt(e *entry) *stop {
	switch strings.TrimSuffix(a.plugin, "_multicluster") + "." + e.key {
	case "terraform.quickSync":
		a.note(e.line, e.path, "is left out: the terraform plugin has no options for quick sync")
		a.drop(a.spec, e)
	case "kubernetes.input":
		if remote, _ := e.at("helmChart", "gitRemote"); remote != nil {
			a.note(remote.Line, join(join(e.path, "helmChart"), "gitRemote"), "is kept, but no plugin of v1 takes a "+
				"chart from another Git repository; publish the chart in a repository or a registry, or commit it "+
				"here and set path")
		}
	case "kubernetes.trafficRouting":
		if host, _ := e.at("istio", "host"); host != nil {
			a.note(host.Line, join(join(e.path, "istio"), "host"),
				"is kept, but the plugin of PipeCD v1 takes the host from service.name")
		}
	case "ecs.input":
		a.standalone(e)
	}
	return nil
}

// standalone keeps what was the default: a task without a service was run.
func (a *application) standalone(input *entry) {
	for _, key := range []string{"serviceDefinitionFile", "runStandaloneTask"} {
		if found, _ := input.at(key); found != nil {
			return
		}
	}
	body := input.opened()
	if body == nil {
		return
	}
	added := a.scalar("runStandaloneTask", "true")
	added.indent = body.indent
	body.add(added)
}

// dropEmpty takes out an entry of which all keys were taken.
func (m *migration) dropEmpty(from *mapping, e *entry) {
	if e != nil && e.mapping != nil && len(e.mapping.entries) == 0 {
		m.drop(from, e)
		m.removed = m.removed[:len(m.removed)-1] // Its content is accounted for already.
	}
}

func (a *application) cannotOpen(e *entry) *stop {
	return &stop{e.line, field(e.path), "is written in a form that is not rewritten (an alias, or no mapping); " +
		"write each of its keys on a separate line"}
}

// isEmpty reports whether the value is not there, or {}.
func (e *entry) isEmpty() bool {
	return e == nil || e.node == nil || e.node.Tag == "!!null" || len(e.node.Content) == 0 && e.node.Kind != 0 &&
		e.node.Alias == nil && e.node.Value == ""
}

// makeMapping makes room for keys in an entry that is empty.
func (e *entry) makeMapping() {
	e.openHead()
	e.mapping, e.offset = &mapping{}, 2
	e.tail, e.rest = append(e.tail, e.rest...), nil
}
