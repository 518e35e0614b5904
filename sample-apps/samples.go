// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package sampleapps carries the sample applications inside the binary, so that `pipedeck up`
// can make a sample repository on any machine. Each folder runs as it is.
package sampleapps

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed all:hello-world all:hello-world-quick all:chain all:helm all:kustomize all:failing-canary
//go:embed all:multicluster all:dag all:analysis all:analysis-metrics all:terraform
var files embed.FS

// A Sample is a set of application folders that go into one repository.
type Sample struct {
	Name string
	// Summary says in one line what the sample shows.
	Summary string
	Folders []string
	// EditHint is the file worth editing first, relative to the repository.
	EditHint string
	// Clusters are the names of the clusters that the sample deploys to; none when any cluster will do.
	Clusters []string
	// Plugins are the plugins that the sample needs besides those of every environment.
	Plugins []string
	// Metrics is the address of a server with Prometheus' query API that the sample brings, with a variable of a
	// Service; empty when it brings none. Analyses know it as the provider "sample".
	Metrics string
	// Clusterless is set when the sample needs no cluster.
	Clusterless bool
}

// program is the folder with the one program that all samples run, so that a release holds it once.
const program = "hello-world"

// goMod lets the programs of a sample be built and run where they are deployed from. Here they belong
// to this repository's module, and a file of that name could not be embedded.
const goMod = "module sample\n\ngo 1.26\n"

// All lists the samples in the order in which they are offered.
func All() []Sample {
	return []Sample{{
		Name:     "hello-world",
		Summary:  "a canary with an approval, and a quick sync",
		Folders:  []string{"hello-world", "hello-world-quick"},
		EditHint: "hello-world/deployment.yaml",
	}, {
		Name:     "chain",
		Summary:  "three applications that are deployed one after another",
		Folders:  []string{"chain"},
		EditHint: "chain/settings/settings.yaml",
	}, {
		Name:     "helm",
		Summary:  "a Helm chart with values",
		Folders:  []string{"helm"},
		EditHint: "helm/values.yaml",
	}, {
		Name:     "kustomize",
		Summary:  "a base with overlays for staging and production",
		Folders:  []string{"kustomize"},
		EditHint: "kustomize/base/deployment.yaml",
	}, {
		Name:     "failing-canary",
		Summary:  "a canary that a commit of yours breaks, and its rollback",
		Folders:  []string{"failing-canary"},
		EditHint: "failing-canary/deployment.yaml",
	}, {
		Name:     "multicluster",
		Summary:  "one application in two clusters",
		Folders:  []string{"multicluster"},
		EditHint: "multicluster/deployment.yaml",
		Clusters: []string{"tokyo", "london"},
	}, {
		Name:     "dag",
		Summary:  "stages side by side, by what they need, and an approval",
		Folders:  []string{"dag"},
		EditHint: "dag/deployment.yaml",
	}, {
		Name:     "analysis",
		Summary:  "a canary in steps of 10, 50 and 100 percent, stopped by its own share of errors",
		Folders:  []string{"analysis", "analysis-metrics"},
		EditHint: "analysis/deployment.yaml",
		Plugins:  []string{"analysis"},
		Metrics:  "{{ .Services.DEFAULT_ANALYSIS_METRICS_URL }}",
	}, {
		Name:     "terraform",
		Summary:  "a plan, and its apply, with OpenTofu or Terraform; needs no cluster",
		Folders:  []string{"terraform"},
		EditHint: "terraform/main.tf",
		Plugins:  []string{"terraform"},

		Clusterless: true,
	}}
}

// Names returns the names of the samples, in the order in which they are offered.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns the sample with that name.
func Find(name string) (Sample, error) {
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	return Sample{}, fmt.Errorf("unknown sample %q; known are: %s", name, strings.Join(Names(), ", "))
}

// Walk calls fn with every file of the sample with that name, as [Sample.Walk] does.
func Walk(name string, fn func(file string, content []byte) error) error {
	sample, err := Find(name)
	if err != nil {
		return err
	}
	return sample.Walk(fn)
}

// Walk calls fn with every file of the sample, by its slash-separated path in the repository. The program is among
// them. Go tests stay behind: they belong to this repository.
func (s Sample) Walk(fn func(name string, content []byte) error) error {
	if err := fn("go.mod", []byte(goMod)); err != nil {
		return err
	}
	folders := s.Folders
	if !slices.Contains(folders, program) {
		folders = append([]string{path.Join(program, "main.go")}, folders...)
	}
	for _, folder := range folders {
		err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path.Base(name), "_test.go") {
				return err
			}
			content, err := files.ReadFile(name)
			if err != nil {
				return err
			}
			return fn(name, content)
		})
		if err != nil {
			return fmt.Errorf("read the sample %s: %w", s.Name, err)
		}
	}
	return nil
}
