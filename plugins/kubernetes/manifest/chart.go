// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

// renderedMark follows the name of a template where lines are those of what it has made.
const renderedMark = " (rendered)"

// Chart is the Helm chart of an application.
type Chart struct {
	// Path is relative to the application's directory; else the chart is Name in Repository.
	Path, Repository, Name, Version string
	// Release is the name of the release.
	Release string
	Options helm.Options
	// Elsewhere is where the configuration says that the chart is in another Git repository; empty for other charts.
	Elsewhere string
}

// renderChart turns a chart into manifests, hooks among them (PipeCD v1: without hooks).
func (l *Loader) renderChart(ctx context.Context, tree *checkout.Tree, dir string, c Chart, namespace string,
	req Request) (*result, error) {
	if c.Elsewhere != "" {
		return nil, &RemoteError{c.Elsewhere, "the chart of helmChart.gitRemote"}
	}
	rendered, err := l.charts.Render(ctx, helm.Request{
		Tree: tree, Dir: dir, Path: c.Path, Repository: c.Repository, Name: c.Name, Version: c.Version,
		ReleaseName: c.Release, Namespace: namespace, Options: c.Options, AllowedAddresses: req.AllowedAddresses,
		Cluster: req.Cluster, Record: req.Release != nil, Moment: req.Moment,
	})
	if err != nil {
		return nil, err
	}
	out := &result{fixed: rendered.Fixed, release: rendered.Release, readsMoment: rendered.ReadsMoment}
	out.notes = append(out.notes, fmt.Sprintf("Chart %s %s is rendered as release %s", rendered.Name, rendered.Version,
		c.Release))
	var hooks []Manifest
	for _, file := range rendered.Files {
		parsed, err := parseRendered(file)
		if err != nil {
			return nil, fmt.Errorf("chart %s %s: %w", rendered.Name, rendered.Version, err)
		}
		for _, m := range parsed {
			if IsHook(m) {
				hooks = append(hooks, m)
			} else {
				out.manifests = append(out.manifests, m)
			}
		}
	}
	out.addHooks(hooks)
	return out, nil
}

// parseRendered reads what a template has made. What Helm lets pass in its output is no mistake of who uses the chart:
// of a key that is given twice, the last one counts.
func parseRendered(file helm.File) ([]Manifest, error) {
	decode := decodeLenientYAML
	if strings.HasSuffix(file.Source, ".json") {
		decode = decodeJSON
	}
	name := file.Source
	if file.Template {
		name += renderedMark
	}
	manifests, err := parse(file.Data, name, decode)
	for _, m := range manifests {
		if m.Is(KindCRD) && !file.Template { // only the crds/ folder is not rendered
			MarkChartCRD(m)
		}
	}
	return manifests, err
}

// addHooks adds the hooks, unless the chart has the same resource without a hook, too.
func (r *result) addHooks(hooks []Manifest) {
	regular := map[Key]bool{}
	for _, m := range r.manifests {
		regular[m.Key().Fold()] = true
	}
	for _, m := range hooks {
		if regular[m.Key().Fold()] {
			r.notes = append(r.notes, fmt.Sprintf("Left out, hook %s: %s of %s: the chart has the same resource "+
				"without a hook", m.GetAnnotations()[AnnotationHelmHook], m.Key().Human(),
				strings.TrimSuffix(m.Origin.File, renderedMark)))
			continue
		}
		r.manifests = append(r.manifests, m)
	}
}
