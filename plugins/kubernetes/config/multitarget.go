// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"path/filepath"
)

// MultiTarget is what `input` says for some deploy targets alone. What is left out is as in `input`.
type MultiTarget struct {
	// Target chooses deploy targets.
	Target TargetMatch `json:"target" jsonschema:"required"`
	// Manifests are the files and folders for the target, relative to KustomizeDir if there is one. Default: those of
	// input.
	Manifests []string `json:"manifests"`
	// KustomizeDir is a folder that takes the place of the application's directory.
	KustomizeDir string `json:"kustomizeDir" jsonschema:"format=local-path"`
	// KustomizeOptions are long flags of `kustomize build`, without the dashes.
	KustomizeOptions map[string]string `json:"kustomizeOptions"`
	// KubectlVersion is the version of kubectl for PipeCD's plugin. This plugin does not run kubectl.
	KubectlVersion string `json:"kubectlVersion"`
	// KustomizeVersion is the version of kustomize for PipeCD's plugin. This plugin has its own.
	KustomizeVersion string `json:"kustomizeVersion"`
}

// TargetMatch chooses deploy targets: by name (then the labels do not count, as in PipeCD v1), or else by labels that
// they all must have.
type TargetMatch struct {
	// Name is the name of the deploy target. PipeCD needs it.
	Name string `json:"name"`
	// Labels are labels that the deploy targets have, where there is no name. PipeCD does not read them.
	Labels map[string]string `json:"labels"`
}

// ExtendSchema says that one of the two is needed.
func (TargetMatch) ExtendSchema(schema map[string]any) {
	schema["allOf"] = []any{object{
		"anyOf": []any{
			object{"required": []string{"name"}, "properties": object{"name": object{"minLength": 1}}},
			object{"required": []string{"labels"}, "properties": object{"labels": object{"minProperties": 1}}},
		},
		"patternErrorMessage": "the name of a deploy target, or labels that deploy targets have",
	}}
}

func (t *TargetMatch) matches(name string, labels map[string]string) bool {
	if t.Name != "" {
		return t.Name == name
	}
	for key, value := range t.Labels {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// String is how users read it: "tokyo", "labels map[region:asia]".
func (t TargetMatch) String() string {
	return cmp.Or(t.Name, fmt.Sprintf("labels %v", t.Labels))
}

// AtTarget returns the configuration of an application of many clusters as it holds at one deploy target. Of several
// matching entries of input.multiTargets one with the target's name counts, or else the first. It is nil when there are
// entries and none is for this target: then the application is not deployed there (PipeCD v1).
func (a *Application) AtTarget(name string, labels map[string]string) *Application {
	at := *a
	at.target = name
	entries := a.Input.MultiTargets
	if len(entries) == 0 {
		return &at
	}
	var chosen *MultiTarget
	for i, e := range entries {
		if e.Target.matches(name, labels) && (chosen == nil || chosen.Target.Name == "" && e.Target.Name != "") {
			chosen = &entries[i]
		}
	}
	if chosen == nil {
		return nil
	}
	if len(chosen.Manifests) > 0 || chosen.KustomizeDir != "" {
		// What input names is in another folder, or for the others. (PipeCD v1 prefers the chart of input
		// nevertheless.)
		at.Input.Manifests, at.Input.HelmChart = chosen.Manifests, nil
	}
	if len(chosen.KustomizeOptions) > 0 {
		at.Input.KustomizeOptions = chosen.KustomizeOptions
	}
	at.folder = chosen.KustomizeDir
	return &at
}

// LeftAt returns the configuration of an application of many clusters for a deploy target that it is not deployed to
// any more.
func (a *Application) LeftAt(name string) *Application {
	at := *a
	at.target, at.left = name, true
	return &at
}

// IsLeft reports whether the configuration is one of LeftAt.
func (a *Application) IsLeft() bool { return a.left }

// DeployTarget is the name that AtTarget or LeftAt was given; empty for an application of one cluster.
func (a *Application) DeployTarget() string { return a.target }

// Folder is where the manifests are, relative to the application's directory; mostly empty.
func (a *Application) Folder() string { return a.folder }

func validateMultiTargets(entries []MultiTarget) (errs []error) {
	named := map[string]int{}
	for i, e := range entries {
		at := fmt.Sprintf("input.multiTargets[%d]", i)
		if e.Target.Name == "" && len(e.Target.Labels) == 0 {
			errs = append(errs, fmt.Errorf("%s.target: give the name of a deploy target, or labels that deploy "+
				"targets have", at))
		}
		if first, twice := named[e.Target.Name]; twice && e.Target.Name != "" {
			errs = append(errs, fmt.Errorf("%s.target.name: %q has an entry already, input.multiTargets[%d]", at,
				e.Target.Name, first))
		} else {
			named[e.Target.Name] = i
		}
		if e.KustomizeDir != "" && !filepath.IsLocal(e.KustomizeDir) {
			errs = append(errs, fmt.Errorf("%s.kustomizeDir: %q must be a folder inside of the application's directory",
				at, e.KustomizeDir))
		}
	}
	return errs
}
