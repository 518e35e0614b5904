// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/gitroot"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/ignorefield"
)

// checkKubernetesInputs warns of sources of manifests that the Kubernetes plugins refuse when they plan a deployment,
// and that no schema can describe. Rules of drift detection that they cannot read are errors.
func checkKubernetesInputs(report *config.Report) {
	checkIgnoreFields(report)
	for _, plugin := range []string{"kubernetes", "kubernetes_multicluster"} {
		value := report.Value("spec.plugins." + plugin)
		input := asMapping(asMapping(value.Any())["input"])
		if chart, ok := input["helmChart"].(map[string]any); ok {
			checkHelmChart(value, chart)
		}
		checkManifests(value, input["manifests"], "input", "manifests")
		targets, _ := input["multiTargets"].([]any)
		for i, target := range targets {
			checkManifests(value, asMapping(target)["manifests"], "input", "multiTargets", strconv.Itoa(i), "manifests")
		}
	}
}

// checkIgnoreFields checks the part of each rule after "#", which only the Kubernetes plugins read.
func checkIgnoreFields(report *config.Report) {
	app := report.Application
	_, one := app.Plugins["kubernetes"]
	_, many := app.Plugins["kubernetes_multicluster"]
	if app.DriftDetection == nil || !one && !many {
		return
	}
	for i, rule := range app.DriftDetection.IgnoreFields {
		field := fmt.Sprintf("spec.driftDetection.ignoreFields[%d]", i)
		if report.Failed(field) {
			continue
		}
		if _, err := ignorefield.Parse(rule); err != nil {
			report.Add(field, err.Error())
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
	case given("repository") && foreignScheme(chart["repository"].(string)):
		value.Warning(append(path, "repository"), true, "is not the address of a chart repository: want https://, "+
			"http:// or oci://, or the name of a repository of the plugin")
	case !given("path") && !given("repository") && !given("gitRemote"):
		value.Warning(path, true, "needs path, or repository and name: the plugin refuses the chart")
	}
}

// foreignScheme reports whether the address of a repository has a scheme that the plugin does not know.
func foreignScheme(repository string) bool {
	scheme, _, found := strings.Cut(repository, "://")
	return found && !slices.Contains([]string{"https", "http", "oci"}, scheme)
}

// checkManifests warns of entries of a list at a path that are absolute.
func checkManifests(value config.Value, list any, path ...string) {
	entries, _ := list.([]any)
	for i, entry := range entries {
		if name, _ := entry.(string); filepath.IsAbs(name) {
			value.Warning(append(append([]string(nil), path...), strconv.Itoa(i)), false,
				fmt.Sprintf("%q is not relative to the application's directory, so the plugin refuses it", name))
		}
	}
}

// repositoryFolder returns the folder of a file from the root of the repository that it is in, if it is in one.
func repositoryFolder(file string) (folder string, known bool) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", false
	}
	root, known := gitroot.Of(dir)
	if !known {
		return "", false
	}
	folder, err = filepath.Rel(root, dir)
	return filepath.ToSlash(folder), err == nil
}

// asMapping returns a mapping of a configuration file; nil for everything else.
func asMapping(value any) map[string]any {
	mapping, _ := value.(map[string]any)
	return mapping
}
