// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

// inflater renders the charts that the kustomizations of one request name.
type inflater struct {
	loader  *Loader
	request Request
	flags   *kustomizeFlags
	// disk gets what was rendered, out whether it is fixed and what a user should know.
	disk *kustomizeDisk
	out  *result
}

// inflate renders the helmCharts of the kustomization in the file at into files next to it, which its resources then
// name.
func (i *inflater) inflate(ctx context.Context, at string, k *kustomization) error {
	if !i.flags.charts {
		return fmt.Errorf("%s: helmCharts are rendered with input.kustomizeOptions: {enable-helm: \"true\"} only",
			k.at("helmCharts"))
	}
	// The keys are those of JSON, which kustomize reads the file as.
	var given struct {
		Namespace   string             `yaml:"namespace"`
		HelmGlobals *types.HelmGlobals `yaml:"helmGlobals"`
		HelmCharts  []types.HelmChart  `yaml:"helmCharts"`
	}
	if err := k.root.Decode(&given); err != nil {
		return yamlError(k.name, nil, err)
	}
	entries := k.value("helmCharts").Content
	home := types.HelmDefaultHome
	if given.HelmGlobals != nil && given.HelmGlobals.ChartHome != "" {
		home = given.HelmGlobals.ChartHome
	}
	for n, c := range given.HelmCharts {
		place := k.at("helmCharts")
		if n < len(entries) {
			place = fmt.Sprintf("%s:%d", k.name, entries[n].Line)
		}
		c.Namespace = cmp.Or(c.Namespace, given.Namespace, i.request.Namespace)
		c.ApiVersions = append(c.ApiVersions, i.flags.apiVersions...)
		c.KubeVersion = cmp.Or(c.KubeVersion, i.flags.kubeVersion)
		rendered, err := i.render(ctx, filepath.Dir(at), home, c)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		i.out.fixed = i.out.fixed && rendered.fixed
		i.out.notes = append(i.out.notes, rendered.notes...)
		file, err := virtual(rendered.manifests)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		name := fmt.Sprintf(".chart-%d-%s.yaml", n+1, strings.Map(fileRune, c.Name))
		i.disk.rendered[filepath.Join(filepath.Dir(at), name)] = file
		k.add("resources", name)
	}
	k.remove("helmCharts")
	k.remove("helmGlobals")
	return nil
}

func fileRune(r rune) rune {
	if r == '/' || r < ' ' {
		return '-'
	}
	return r
}

// render renders one chart of a kustomization in a folder; home is the folder for charts, relative to it.
func (i *inflater) render(ctx context.Context, dir, home string, c types.HelmChart) (*result, error) {
	tree := i.disk.tree
	if c.NameTemplate != "" {
		return nil, fmt.Errorf("chart %s: nameTemplate is not possible here: write releaseName", c.Name)
	}
	chart := Chart{
		Repository: c.Repo, Name: c.Name, Version: c.Version, Release: cmp.Or(c.ReleaseName, c.Name),
		Options: helm.Options{APIVersions: c.ApiVersions, KubeVersion: c.KubeVersion},
	}
	// What is there already is used as it is, whatever its version (kustomize: the same).
	local := filepath.Join(home, c.Name)
	if versioned := filepath.Join(home, c.Name+"-"+c.Version, c.Name); c.Version != "" &&
		tree.Kind(filepath.Join(dir, versioned)) == checkout.Folder {
		local = versioned
	}
	if tree.Kind(filepath.Join(dir, local)) == checkout.Folder {
		chart.Path, chart.Repository = local, ""
	} else if c.Repo == "" {
		return nil, fmt.Errorf("chart %s: there is none in %s, and no repo is given", c.Name, filepath.ToSlash(local))
	}
	if err := setValues(&chart.Options, c); err != nil {
		return nil, fmt.Errorf("chart %s: %w", c.Name, err)
	}
	rendered, err := i.loader.renderChart(ctx, tree, dir, chart, c.Namespace, i.request)
	if err != nil {
		return nil, err
	}
	rendered.manifests = skip(rendered.manifests, c)
	return rendered, nil
}

// setValues says which values win: those in the kustomization, unless valuesMerge is "merge"; with "replace" they are
// all.
func setValues(options *helm.Options, c types.HelmChart) error {
	files := c.AdditionalValuesFiles
	if c.ValuesFile != "" {
		files = append([]string{c.ValuesFile}, files...)
	}
	switch c.ValuesMerge {
	case "", "override":
		options.ValueFiles, options.Values = files, c.ValuesInline
	case "replace":
		options.Values = c.ValuesInline
	case "merge":
		options.ValueFiles, options.BaseValues = files, c.ValuesInline
	default:
		return fmt.Errorf("valuesMerge: %q is none of override, merge and replace", c.ValuesMerge)
	}
	return nil
}

// skip leaves out what the chart is asked not to give.
func skip(manifests []Manifest, c types.HelmChart) []Manifest {
	var kept []Manifest
	for _, m := range manifests {
		if m.Is(KindCRD) && !c.IncludeCRDs && !m.Origin.rendered() || c.SkipHooks && IsHook(m) {
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

func virtual(manifests []Manifest) (*virtualFile, error) {
	var data bytes.Buffer
	encoder := yaml.NewEncoder(&data)
	for _, m := range manifests {
		if err := encoder.Encode(m.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Origin, err)
		}
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return &virtualFile{data: data.Bytes(), manifests: manifests}, nil
}
