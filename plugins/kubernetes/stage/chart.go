// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// chartOf is the chart of an application; nil when it has none. The release has the name of the application unless it
// is given another one (PipeCD v1: the same).
func chartOf(s *Source) *manifest.Chart {
	chart, options := s.App.Input.HelmChart, s.App.Input.HelmOptions
	if chart == nil {
		return nil
	}
	elsewhere := ""
	if chart.GitRemote != "" {
		elsewhere = s.ConfigFilename
		if line := config.GitRemoteLine(s.ConfigData); line > 0 {
			elsewhere = fmt.Sprintf("%s:%d", elsewhere, line)
		}
	}
	return &manifest.Chart{
		Elsewhere: elsewhere, Path: chart.Path, Repository: chart.Repository, Name: chart.Name, Version: chart.Version,
		Release: cmp.Or(options.ReleaseName, config.ApplicationName(s.ConfigData)),
		Options: helm.Options{
			ValueFiles: options.ValueFiles, SetValues: options.SetValues, SetFiles: options.SetFiles,
			APIVersions: options.APIVersions, KubeVersion: options.KubeVersion,
		},
	}
}

// chartSources are where the operator lets charts come from.
func chartSources(c config.Plugin) helm.Sources {
	sources := helm.Sources{AllowedAddresses: c.AllowedChartAddresses}
	for _, r := range c.ChartRepositories {
		sources.Repositories = append(sources.Repositories, helm.Repository{
			Name: r.Name, Address: r.Address, Username: r.Username, Password: r.Password, Insecure: r.Insecure,
		})
	}
	for _, r := range c.ChartRegistries {
		sources.Registries = append(sources.Registries,
			helm.Registry{Address: r.Address, Username: r.Username, Password: r.Password})
	}
	return sources
}
