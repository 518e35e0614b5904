// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// inputPlugins are the plugins whose manifests and charts may be anywhere in the repository.
var inputPlugins = []string{"kubernetes", "kubernetes_multicluster"}

// outside refuses paths of an application that lead out of its repository, which nothing reads.
func (c *Checker) outside(report *config.Report) {
	if c.Folder == nil {
		return
	}
	folder, known := c.Folder(report.File())
	if !known {
		return
	}
	for i, rule := range report.Application.EventWatcher {
		for j, r := range rule.Handler.Config.Replacements {
			if !path.IsAbs(r.File) && leaves(folder, r.File) {
				report.Add(fmt.Sprintf("spec.eventWatcher[%d].handler.config.replacements[%d].file", i, j),
					fmt.Sprintf("%q leads outside of the repository", shorten(r.File)))
			}
		}
	}
	for _, plugin := range inputPlugins {
		o := outsiders{report.Value("spec.plugins." + plugin), folder}
		input := asObject(asObject(o.value.Any())["input"])
		o.refuseEach(input["manifests"], "input", "manifests")
		o.refuse(asObject(input["helmChart"])["path"], "input", "helmChart", "path")
		helm := asObject(input["helmOptions"])
		o.refuseEach(helm["valueFiles"], "input", "helmOptions", "valueFiles")
		for name, file := range asObject(helm["setFiles"]) {
			o.refuse(file, "input", "helmOptions", "setFiles", name)
		}
		for i, target := range asList(input["multiTargets"]) {
			target := asObject(target)
			inner, _ := target["kustomizeDir"].(string)
			o.folder = path.Join(folder, inner)
			o.refuseEach(target["manifests"], "input", "multiTargets", strconv.Itoa(i), "manifests")
		}
	}
}

// outsiders finds paths in the options of a plugin that lead out of the repository.
type outsiders struct {
	value  config.Value
	folder string
}

func (o outsiders) refuseEach(list any, at ...string) {
	for i, entry := range asList(list) {
		o.refuse(entry, append(at[:len(at):len(at)], strconv.Itoa(i))...)
	}
}

func (o outsiders) refuse(file any, at ...string) {
	name, _ := file.(string)
	if !path.IsAbs(name) && !strings.Contains(name, "://") && leaves(o.folder, name) {
		o.value.Error(at, false, fmt.Sprintf("%q leads outside of the repository, so the plugin refuses it",
			shorten(name)))
	}
}

// leaves reports whether a path that is relative to a folder of the repository leads out of it.
func leaves(folder, name string) bool {
	clean := path.Join(folder, name)
	return clean == ".." || strings.HasPrefix(clean, "../")
}
