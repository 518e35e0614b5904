// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// maxDependencyDepth bounds how deep charts of the checkout may depend on each other, so that a circle ends.
const maxDependencyDepth = 16

// missing are dependencies that are not there, by their names, with the reason. They matter only when they are enabled.
type missing map[string]error

// addDependencies adds what Chart.yaml names and charts/ does not hold (PipeCD v1: --dependency-update). fixed is
// whether it would always be the same.
func (c *Charts) addDependencies(ctx context.Context, g *guard, req Request, l *loaded) (missing, bool, error) {
	return c.completeChart(ctx, g, req, l, 0)
}

func (c *Charts) completeChart(ctx context.Context, g *guard, req Request, l *loaded,
	depth int) (missing, bool, error) {
	if depth > maxDependencyDepth {
		return nil, false, fmt.Errorf("charts depend on each other more than %d deep; does one depend on itself?",
			maxDependencyDepth)
	}
	lacks, fixed := missing{}, true
	for _, d := range l.chart.Metadata.Dependencies {
		if d == nil || vendored(l.chart, d.Name) {
			continue
		}
		found, err := c.dependency(ctx, g, req, l, d)
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		if err != nil {
			lacks[nameOf(d)] = err
			continue
		}
		_, same, err := c.completeChart(ctx, g, req, found, depth+1)
		if err != nil {
			return nil, false, err
		}
		fixed = fixed && found.fixed && same
		l.chart.AddDependency(found.chart)
	}
	return lacks, fixed, nil
}

func vendored(c *chart.Chart, name string) bool {
	return slices.ContainsFunc(c.Dependencies(), func(d *chart.Chart) bool { return d.Name() == name })
}

func nameOf(d *chart.Dependency) string {
	if d.Alias != "" {
		return d.Alias
	}
	return d.Name
}

// dependency finds one chart: in the checkout, or where it is published.
func (c *Charts) dependency(ctx context.Context, g *guard, req Request, l *loaded, d *chart.Dependency) (*loaded,
	error) {
	folder, local := strings.CutPrefix(d.Repository, "file://")
	switch {
	case d.Repository == "":
		return nil, errors.New("it is in no repository")
	case local && l.folder == "":
		return nil, fmt.Errorf("%s is a folder next to the chart, which has come as an archive", d.Repository)
	case local:
		found, err := loadLocal(req.Tree, filepath.Join(l.folder, filepath.FromSlash(folder)))
		if err != nil {
			return nil, err
		}
		return found, nil
	}
	return c.loadRemote(ctx, g, d.Repository, d.Name, locked(l.chart, d))
}

// locked is the version that Chart.lock holds, else the one that Chart.yaml asks for.
func locked(c *chart.Chart, d *chart.Dependency) string {
	if c.Lock != nil {
		for _, l := range c.Lock.Dependencies {
			if l != nil && l.Name == d.Name && l.Repository == d.Repository {
				return l.Version
			}
		}
	}
	return d.Version
}

// stillMissing is an error when a dependency is not there that is enabled once the values are known.
func stillMissing(c *chart.Chart, lacks missing) error {
	var errs []error
	for _, d := range c.Metadata.Dependencies {
		if why, is := lacks[nameOf(d)]; is {
			errs = append(errs, fmt.Errorf("its dependency %s %s is not in charts/ (%w): run `helm dependency "+
				"update` and commit charts/, or make the repository known to the plugin (chartRepositories)",
				d.Name, d.Version, why))
		}
	}
	return errors.Join(errs...)
}
