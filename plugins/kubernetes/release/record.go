// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Record is what a rollout has come to.
type Record struct {
	// ApplicationID and DeployTarget say whose the record is; an empty target is any.
	ApplicationID, DeployTarget string
	Release                     *helm.Release
	// Namespace is that of the release, and where its records are.
	Namespace string
	// Manifests are those of the release, hooks among them, as they were rendered.
	Manifests []manifest.Manifest
	// Description says what was done, in one line. Failed says that it was not done.
	Description string
	Failed      bool
	// History is how many records of the application stay.
	History int
	Now     time.Time
}

// status is the one that Helm knows.
func (r *Record) status() common.Status {
	if r.Failed {
		return common.StatusFailed
	}
	return common.StatusDeployed
}

// helm is the record as Helm has it; first is when the release was first deployed.
func (r *Record) helm(version int, first time.Time) (*helmrelease.Release, error) {
	made := &helmrelease.Release{
		Name: r.Release.Name, Namespace: r.Namespace, Version: version,
		Chart: r.Release.Chart, Config: r.Release.Config,
		Info: &helmrelease.Info{FirstDeployed: first, LastDeployed: r.Now, Status: r.status(),
			Description: r.Description, Notes: r.Release.Notes},
		ApplyMethod: string(helmrelease.ApplyMethodServerSideApply),
	}
	var all strings.Builder
	for _, m := range r.Manifests {
		text, err := text(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Key().Human(), err)
		}
		words := manifest.Words(m.GetAnnotations()[manifest.AnnotationHelmHook])
		if manifest.AreHooks(words) {
			made.Hooks = append(made.Hooks, hook(m, words, text))
			continue
		}
		fmt.Fprintf(&all, "---\n# Source: %s\n%s", m.Origin.File, text)
	}
	made.Manifest = all.String()
	return made, nil
}

func text(m manifest.Manifest) (string, error) {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := encoder.Encode(m.Object)
	return b.String(), errors.Join(err, encoder.Close())
}

func hook(m manifest.Manifest, events []string, text string) *helmrelease.Hook {
	h := &helmrelease.Hook{Name: m.GetName(), Kind: m.GetKind(), Path: m.Origin.File, Manifest: text,
		LastRun: helmrelease.HookExecution{Phase: helmrelease.HookPhaseUnknown}}
	for _, event := range events {
		h.Events = append(h.Events, helmrelease.HookEvent(event))
	}
	h.Weight, _ = strconv.Atoi(m.GetAnnotations()[helmrelease.HookWeightAnnotation]) // 0 for what is no number
	for _, policy := range manifest.Words(m.GetAnnotations()[helmrelease.HookDeleteAnnotation]) {
		h.DeletePolicies = append(h.DeletePolicies, helmrelease.HookDeletePolicy(policy))
	}
	return h
}

// stored is one record in the cluster.
type stored struct {
	name    string
	version int
	status  string
	// owner is the id of the application; empty for a record of helm.
	owner string
}

// newest returns the record with the highest version; nil for none.
func newest(records []stored) *stored {
	if len(records) == 0 {
		return nil
	}
	last := slices.MaxFunc(records, func(a, b stored) int { return a.version - b.version })
	return &last
}
