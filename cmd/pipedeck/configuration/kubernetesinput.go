// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/gitroot"
	"github.com/pipedeck/pipedeck/piped/config"
)

// checkKubernetesInputs warns of sources of manifests that the Kubernetes plugins refuse when they plan a deployment,
// and that no schema can describe. file is the path of the application configuration.
func checkKubernetesInputs(report *config.Report, file string) {
	for _, plugin := range []string{"kubernetes", "kubernetes_multicluster"} {
		value := report.Value("spec.plugins." + plugin)
		input := asMapping(asMapping(value.Any())["input"])
		if chart, ok := input["helmChart"].(map[string]any); ok {
			checkHelmChart(value, chart)
		}
		checkManifests(value, file, input["manifests"], "input", "manifests")
		targets, _ := input["multiTargets"].([]any)
		for i, target := range targets {
			// With kustomizeDir, the manifests are relative to that directory.
			if target := asMapping(target); target["kustomizeDir"] == nil {
				checkManifests(value, file, target["manifests"], "input", "multiTargets", strconv.Itoa(i), "manifests")
			}
		}
	}
}

func checkHelmChart(value config.Value, chart map[string]any) {
	given := func(name string) bool { text, _ := chart[name].(string); return text != "" }
	path := []string{"input", "helmChart"}
	switch {
	case given("path") && given("repository"):
		value.Warning(append(path, "repository"), true,
			"cannot be used together with path: the plugin refuses the chart")
	case given("repository") && !given("name"):
		value.Warning(path, true, "needs name together with repository: the plugin refuses the chart")
	case !given("path") && !given("repository") && !given("gitRemote"):
		value.Warning(path, true, "needs path, or repository and name: the plugin refuses the chart")
	}
}

// checkManifests warns of entries of a list at a path that are absolute or lead out of the repository that holds the
// file.
func checkManifests(value config.Value, file string, list any, path ...string) {
	entries, _ := list.([]any)
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return
	}
	root, known := gitroot.Of(dir)
	for i, entry := range entries {
		name, _ := entry.(string)
		at := append(append([]string(nil), path...), strconv.Itoa(i))
		relative, err := filepath.Rel(root, filepath.Join(dir, name))
		switch {
		case filepath.IsAbs(name):
			value.Warning(at, false, fmt.Sprintf("%q is not relative to the application's directory, so the "+
				"plugin refuses it", name))
		case known && (err != nil || !filepath.IsLocal(relative)):
			value.Warning(at, false, fmt.Sprintf("%q leads outside of the repository, so the plugin refuses it", name))
		}
	}
}

// asMapping returns a mapping of a configuration file; nil for everything else.
func asMapping(value any) map[string]any {
	mapping, _ := value.(map[string]any)
	return mapping
}
