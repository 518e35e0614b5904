// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// movedOptions are the options, by stage, that stand next to the name in v1.
var movedOptions = map[string][]string{
	"WAIT":          {"skipOn"},
	"WAIT_APPROVAL": {"timeout", "skipOn"},
	"ANALYSIS":      {"skipOn"},
	"SCRIPT_RUN":    {"timeout", "skipOn"},
	"CUSTOM_SYNC":   {"timeout"},
}

// rollbackOfPlugin are the names that the one stage ROLLBACK of v0 has now.
var rollbackOfPlugin = map[string]string{"kubernetes": "K8S_ROLLBACK", "kubernetes_multicluster": "K8S_MULTI_ROLLBACK",
	"terraform": "TERRAFORM_ROLLBACK", "ecs": "ECS_ROLLBACK"}

func (a *application) stages() *stop {
	list := a.spec.find("pipeline").opened().find("stages")
	if list == nil {
		return nil
	}
	stages := list.openedSequence()
	if stages == nil {
		if list.isEmpty() {
			return nil
		}
		return a.cannotOpen(list)
	}
	for _, it := range stages.items {
		if !a.concerns(it) {
			continue
		}
		body := it.opened()
		if body == nil {
			return &stop{it.line, field(it.path), "is written in a form that is not rewritten (an alias, or no " +
				"mapping); write each of its keys on a separate line"}
		}
		if err := a.stage(body); err != nil {
			return err
		}
	}
	return nil
}

// concerns reports whether a stage may hold something of v0, so that others are not written again.
func (a *application) concerns(it *item) bool {
	if it.node == nil {
		return false
	}
	var stage struct {
		Name string         `yaml:"name"`
		With map[string]any `yaml:"with"`
	}
	if err := it.node.Decode(&stage); err != nil {
		return true
	}
	for _, option := range movedOptions[stage.Name] {
		if _, ok := stage.With[option]; ok {
			return true
		}
	}
	return a.old || slices.Contains([]string{"CUSTOM_SYNC", "TERRAFORM_SYNC", "ROLLBACK"}, stage.Name)
}

func (a *application) stage(body *mapping) *stop {
	name := body.find("name")
	if name == nil {
		return nil
	}
	if err := a.options(body, name.text()); err != nil {
		return err
	}
	switch name.text() {
	case "ROLLBACK":
		if now := rollbackOfPlugin[a.plugin]; now != "" {
			a.replace(name, now)
		}
	case "TERRAFORM_SYNC":
		a.replace(name, "TERRAFORM_APPLY")
		a.note(name.line, name.path, "TERRAFORM_SYNC is now TERRAFORM_APPLY")
	case "CUSTOM_SYNC":
		a.replace(name, "SCRIPT_RUN")
		if found, _ := body.find("with").at("envs"); found != nil {
			envs := body.find("with").opened().find("envs")
			if envs == nil {
				return a.cannotOpen(body.find("with"))
			}
			envs.rename("env")
		}
		a.note(name.line, name.path, "CUSTOM_SYNC is now SCRIPT_RUN, which runs the same script with other "+
			"environment variables and undoes it only by onRollback")
	case "WAIT_APPROVAL":
		if _, approvers := body.find("with").at("approvers"); approvers == nil || len(approvers.Content) == 0 {
			a.note(name.line, name.path, "has no approvers: PipeCD v1 wants at least one in with.approvers")
		}
	case "ANALYSIS":
		if err := a.unread(body); err != nil {
			return err
		}
		a.analysis(body.find("with"))
	}
	return nil
}

// unread drops what neither v0 nor v1 reads, though examples of v0 have it: v1's plugins refuse such keys.
func (a *application) unread(body *mapping) *stop {
	with := body.find("with")
	if !a.old || with == nil {
		return nil
	}
	if found, _ := with.at("threshold"); found != nil {
		options := with.opened()
		old := options.find("threshold")
		if old == nil {
			return a.cannotOpen(with)
		}
		a.note(old.line, old.path, notRead)
		a.drop(options, old)
		a.dropEmpty(body, with)
	}
	return a.unreadRequests(body.find("with"))
}

const notRead = "is left out: PipeCD reads it neither in v0 nor in v1"

// unreadRequests is unread for the requests of an analysis.
func (a *application) unreadRequests(with *entry) *stop {
	_, list := with.at("https")
	if list == nil || list.Kind != yaml.SequenceNode || !slices.ContainsFunc(list.Content, func(n *yaml.Node) bool {
		var request map[string]any
		return n.Decode(&request) == nil && request["expected"] != nil
	}) {
		return nil
	}
	requests := with.opened().find("https").openedSequence()
	if requests == nil {
		return a.cannotOpen(with)
	}
	for _, it := range requests.items {
		request := it.opened()
		if request == nil {
			continue // an alias, which the check of the result names
		}
		if old := request.find("expected"); old != nil {
			a.note(old.line, old.path, notRead+"; expectedCode says which status is expected")
			a.drop(request, old)
		}
	}
	return nil
}

// options moves what is no option of the plugin any more out of with.
func (a *application) options(body *mapping, name string) *stop {
	with := body.find("with")
	moved := movedOptions[name]
	if with == nil || len(moved) == 0 || with.isEmpty() {
		return nil
	}
	for _, key := range moved {
		if found, _ := with.at(key); found == nil {
			continue
		}
		options := with.opened()
		old := options.find(key)
		if old == nil {
			return a.cannotOpen(with)
		}
		if body.find(key) != nil {
			if a.old {
				a.note(old.line, old.path, "is left out: %s next to the stage's name is there already and wins", key)
			}
			a.drop(options, old)
			continue
		}
		options.cut(old)
		body.insert(slices.Index(body.entries, with), old)
		a.changed = true
	}
	a.dropEmpty(body, with)
	return nil
}

var k8sNamespace = regexp.MustCompile(`(\{\{-?\s*)\.K8s\.Namespace(\s*-?\}\})`)

// analysis replaces the one variable in queries that v0 filled in from the kubernetes settings.
func (a *application) analysis(with *entry) {
	if with == nil || with.node == nil {
		return
	}
	const now = "${1}.AppCustomArgs.k8sNamespace${2}"
	before := len(a.removed)
	eachScalar(with.node, with.path, func(n *yaml.Node, path []any) {
		if k8sNamespace.MatchString(n.Value) {
			a.removed, a.added = append(a.removed, path), append(a.added, k8sNamespace.ReplaceAllString(n.Value, now))
		}
	})
	if len(a.removed) == before {
		return
	}
	a.changed, a.usesNamespace = true, true
	with.substitute(func(line string) string { return k8sNamespace.ReplaceAllString(line, now) })
	if a.namespace() == "" {
		a.note(with.line, with.path, "a query uses the namespace: set it as "+
			"plugins.analysis.appCustomArgs.k8sNamespace")
	}
}

func (a *application) namespace() string {
	if _, value := a.spec.find("input").at("namespace"); value != nil {
		return value.Value
	}
	return ""
}

// customArguments gives the namespace to the queries that use it.
func (a *application) customArguments() *stop {
	namespace := a.namespace()
	if !a.usesNamespace || namespace == "" {
		return nil
	}
	plugins, err := a.plugins()
	if err != nil {
		return err
	}
	if own := plugins.find("analysis"); own != nil {
		a.note(own.line, own.path, "a query uses the namespace: set appCustomArgs.k8sNamespace to %s here", namespace)
		return nil
	}
	own, arguments := newMapping("analysis"), newMapping("appCustomArgs")
	arguments.mapping.add(a.text("k8sNamespace", namespace))
	own.mapping.add(arguments)
	plugins.add(own)
	return nil
}

func eachScalar(n *yaml.Node, path []any, visit func(*yaml.Node, []any)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(n, path)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachScalar(n.Content[i+1], join(path, n.Content[i].Value), visit)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			eachScalar(item, join(path, i), visit)
		}
	}
}
