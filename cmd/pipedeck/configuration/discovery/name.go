// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxName bounds the name of an application: that of a release of Helm.
const maxName = 53

// generic are names of folders that say nothing of what is deployed.
var generic = []string{
	"k8s", "kubernetes", "kube", "manifests", "manifest", "deploy", "deployment", "deployments", "chart", "charts",
	"helm", "kustomize", "config", "base", "overlays", "overlay", "envs", "env", "environments", "apps", "services",
	"infra", "infrastructure", "src", "clusters", "resources", "yaml",
}

// variants are names of folders whose folders are variants of one application.
var variants = []string{"overlays", "overlay", "envs", "env", "environments", "clusters"}

// nameAll gives each application a name by its folder that no other has.
func nameAll(applications []*Application, repository string, taken map[string]bool) {
	levels := map[*Application]int{}
	for round := 0; ; round++ {
		byName := map[string][]*Application{}
		for _, a := range applications {
			a.Name = nameOf(a.Folder, repository, levels[a])
			byName[a.Name] = append(byName[a.Name], a)
		}
		clash := false
		for name, group := range byName {
			if len(group) > 1 || taken[name] {
				clash = true
				for _, a := range group {
					levels[a]++
				}
			}
		}
		if !clash {
			return
		}
		if round > maxDepth {
			break
		}
	}
	// The folders alone do not distinguish them.
	used := map[string]bool{}
	for _, a := range applications {
		name := a.Name
		for i := 2; used[name] || taken[name]; i++ {
			suffix := fmt.Sprintf("-%d", i)
			name = a.Name[:min(len(a.Name), maxName-len(suffix))] + suffix
		}
		a.Name = name
		used[name] = true
	}
}

// nameOf makes a name from a folder: of its last part that says something, and of level parts more before it.
func nameOf(folder, repository string, level int) string {
	var parts []string
	if folder != "." {
		parts = strings.Split(folder, "/")
	}
	count := 1 + level
	if len(parts) > 1 && slices.Contains(variants, strings.ToLower(parts[len(parts)-2])) {
		count++
	}
	words := []string{repository}
	for _, part := range parts {
		if !slices.Contains(generic, strings.ToLower(part)) {
			words = append(words, part)
		}
	}
	if count > len(words) {
		words = append([]string{repository}, parts...) // all that there is
	}
	return safe(strings.Join(words[max(0, len(words)-count):], "-"))
}

var unsafe = regexp.MustCompile(`[^a-z0-9]+`)

// safe makes a name that Kubernetes and Helm take.
func safe(name string) string {
	name = strings.Trim(unsafe.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if name == "" {
		return "app"
	}
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	return strings.Trim(name, "-")
}

// variant is the folder's own part of the name of an overlay.
func (a *Application) variant() string { return safe(path.Base(a.Folder)) }
