// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
)

// kustomizeFlags are the flags of `kustomize build` that an application sets.
type kustomizeFlags struct {
	options *krusty.Options
	// charts is whether helmCharts may be used.
	charts      bool
	apiVersions []string
	kubeVersion string
}

// refusedFlags are flags of `kustomize build` that cannot be honoured, with the reason.
var refusedFlags = map[string]string{
	"enable-alpha-plugins": "plugins are programs, and none is run",
	"enable-exec":          "no program is run",
	"enable-star":          "no program is run",
	"mount":                "no container is run",
	"network":              "no container is run",
	"network-name":         "no container is run",
	"env":                  "no container is run",
	"as-current-user":      "no container is run",
	"helm-command":         "charts are rendered without a program; enable-helm is enough",
	"helm-debug":           "charts are rendered without a program",
	"output":               "the manifests are deployed, not written",
	"stack-trace":          "it is for those who work on kustomize",
}

const allowedFlags = "allowed are load-restrictor, reorder, enable-helm, helm-api-versions, helm-kube-version and " +
	"enable-managedby-label"

// parseKustomizeOptions turns flags of `kustomize build` into options. Each one is honoured or an error.
func parseKustomizeOptions(given map[string]string) (*kustomizeFlags, error) {
	f := &kustomizeFlags{options: krusty.MakeDefaultOptions()}
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		if err := f.set(flag, given[flag]); err != nil {
			return nil, fmt.Errorf("input.kustomizeOptions.%s: %w", flag, err)
		}
	}
	return f, nil
}

func (f *kustomizeFlags) set(flag, value string) (err error) {
	name := strings.ReplaceAll(strings.TrimLeft(flag, "-"), "_", "-")
	switch name {
	case "load-restrictor":
		switch value {
		case "LoadRestrictionsNone", "none":
			f.options.LoadRestrictions = types.LoadRestrictionsNone
		case "LoadRestrictionsRootOnly", "rootOnly":
			f.options.LoadRestrictions = types.LoadRestrictionsRootOnly
		default:
			return fmt.Errorf("%q is neither LoadRestrictionsNone nor LoadRestrictionsRootOnly", value)
		}
	case "reorder":
		switch value {
		case "legacy":
			f.options.Reorder = krusty.ReorderOptionLegacy
		case "none":
			f.options.Reorder = krusty.ReorderOptionNone
		default:
			return fmt.Errorf("%q is neither legacy nor none", value)
		}
	case "enable-helm":
		f.charts, err = switched(value)
	case "enable-managedby-label":
		f.options.AddManagedbyLabel, err = switched(value)
	case "helm-api-versions":
		f.apiVersions = strings.Split(value, ",")
	case "helm-kube-version":
		f.kubeVersion = value
	default:
		if why, known := refusedFlags[name]; known {
			return fmt.Errorf("not possible here: %s; %s", why, allowedFlags)
		}
		return fmt.Errorf("not a flag of kustomize build; %s", allowedFlags)
	}
	return err
}

// switched reads a flag without a value.
func switched(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "", "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", value)
}
