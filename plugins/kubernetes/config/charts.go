// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

// Plugin is the plugin's own part of the piped configuration.
type Plugin struct {
	// ChartRepositories are Helm chart repositories.
	ChartRepositories []ChartRepository `json:"chartRepositories" jsonschema:"uniqueBy=name"`
	// ChartRegistries are OCI registries of Helm charts.
	ChartRegistries []ChartRegistry `json:"chartRegistries"`
	// AllowedChartAddresses are hosts, host:port, IP addresses and networks of this machine or its network that charts
	// may come from, besides those repositories and registries. PipeCD does not read it.
	AllowedChartAddresses []string `json:"allowedChartAddresses"`
	// Health are rules that judge the objects of kinds whose status the plugin does not understand, or understands in
	// another way. Stages wait for objects of these kinds. PipeCD does not read it.
	Health []HealthRule `json:"health"`
}

// ChartRepository is an HTTP repository of Helm charts.
type ChartRepository struct {
	// Type is HTTP, the only one.
	Type string `json:"type" jsonschema:"enum=HTTP"`
	// Name is what applications choose the repository by.
	Name string `json:"name" jsonschema:"required"`
	// Address is the URL of the repository.
	Address string `json:"address" jsonschema:"required,pattern=^https?://[^/@]+(/|$),patternErrorMessage=an https URL"`
	// Username logs in.
	Username string `json:"username"`
	// Password logs in.
	Password string `json:"password" jsonschema:"writeOnly"`
	// Insecure skips the check of the server's certificate. Default false.
	Insecure bool `json:"insecure"`
}

// ChartRegistry is an OCI registry, or a place in one, and who logs in there.
type ChartRegistry struct {
	// Type is OCI, the only one.
	Type string `json:"type" jsonschema:"enum=OCI"`
	// Address is the address of the registry, or of a place in it.
	Address string `json:"address" jsonschema:"required"`
	// Username logs in.
	Username string `json:"username"`
	// Password logs in.
	Password string `json:"password" jsonschema:"writeOnly"`
}

// Validate reports every setting that cannot work.
func (p *Plugin) Validate() error {
	var errs []error
	names := map[string]bool{}
	for i, r := range p.ChartRepositories {
		at := fmt.Sprintf("chartRepositories[%d]", i)
		u, err := url.Parse(r.Address)
		switch {
		case r.Type != "" && r.Type != "HTTP":
			errs = append(errs, fmt.Errorf("%s.type: %q is not HTTP, the only type there is", at, r.Type))
		case r.Name == "":
			errs = append(errs, fmt.Errorf("%s.name: must be given: applications choose the repository by it", at))
		case names[r.Name]:
			errs = append(errs, fmt.Errorf("%s.name: %q is the name of another repository", at, r.Name))
		case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
			errs = append(errs, fmt.Errorf("%s.address: must be a URL such as https://charts.example/stable", at))
		case u.User != nil:
			errs = append(errs, fmt.Errorf("%s.address: put the login into username and password", at))
		}
		names[r.Name] = true
	}
	for i, r := range p.ChartRegistries {
		at := fmt.Sprintf("chartRegistries[%d]", i)
		address := strings.TrimPrefix(r.Address, "oci://")
		switch {
		case r.Type != "" && r.Type != "OCI":
			errs = append(errs, fmt.Errorf("%s.type: %q is not OCI, the only type there is", at, r.Type))
		case address == "" || strings.ContainsAny(address, "@ ") || strings.Contains(address, "://"):
			errs = append(errs, fmt.Errorf("%s.address: must be a registry such as registry.example:5000, or a "+
				"place in one", at))
		}
	}
	return errors.Join(append(errs, checkAllowed(p.AllowedChartAddresses), checkHealth(p.Health))...)
}

func checkAllowed(entries []string) error {
	var errs []error
	for i, entry := range entries {
		if err := helm.CheckAllowed(entry); err != nil {
			errs = append(errs, fmt.Errorf("allowedChartAddresses[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// HelmChart is the chart of an application: Path in the repository, or Name in Repository.
type HelmChart struct {
	// Path is a chart in the Git repository: a folder or an archive, relative to the application's directory.
	Path string `json:"path"`
	// Repository is the name or URL of a chart repository of the plugin, or oci://registry/path.
	Repository string `json:"repository"`
	// Name is the name of the chart in its repository or registry.
	Name string `json:"name"`
	// Version is the version of the chart, or a range. Default: the newest one.
	Version string `json:"version"`
	// GitRemote is the Git repository of the chart, of PipeCD v0. Nothing is fetched from there, so the application
	// cannot be deployed: publish the chart in a repository or a registry, or commit it here and set path.
	GitRemote string `json:"gitRemote" jsonschema:"deprecated"`
	// Ref is the commit in gitRemote. It is not read.
	Ref string `json:"ref" jsonschema:"deprecated"`
}

// HelmOptions are those of `helm template`.
type HelmOptions struct {
	// ReleaseName is the name of the release. Default: the name of the application.
	ReleaseName string `json:"releaseName"`
	// SetValues are single values.
	SetValues map[string]string `json:"setValues"`
	// ValueFiles are files with values, relative to the application's directory, or URLs. Later ones win.
	ValueFiles []string `json:"valueFiles"`
	// SetFiles are values that are read from files, relative to the application's directory.
	SetFiles map[string]string `json:"setFiles"`
	// APIVersions are API versions that the chart sees besides those of the cluster.
	APIVersions []string `json:"apiVersions"`
	// KubeVersion is the version of Kubernetes that the chart sees. Default: that of the cluster, or offline 1.36.0.
	KubeVersion string `json:"kubeVersion"`
	// Offline renders without the cluster, as `helm template` does: its API versions are not seen, and lookup finds
	// nothing. Default false. PipeCD does not read it; it always renders so.
	Offline bool `json:"offline"`
	// ReleaseRecord writes a record of each rollout into the namespace of the release, so that `helm list` and `helm
	// history` show it. Default false. PipeCD does not read it.
	ReleaseRecord bool `json:"releaseRecord"`
	// ReleaseHistory is how many records stay. Default 10. PipeCD does not read it.
	ReleaseHistory int `json:"releaseHistory" jsonschema:"minimum=1,default=10"`
}

// DefaultReleaseHistory is how many records of a release stay, as with helm.
const DefaultReleaseHistory = 10

func (o *HelmOptions) validate(chart *HelmChart) error {
	switch {
	case o.ReleaseRecord && chart == nil:
		return errors.New("input.helmOptions.releaseRecord: there is a release only with input.helmChart")
	case o.ReleaseHistory < 1:
		return errors.New("input.helmOptions.releaseHistory: must be 1 or more")
	}
	return nil
}

func (c *HelmChart) validate() error {
	switch {
	case c == nil, c.GitRemote != "":
		return nil
	case c.Path == "" && c.Repository == "":
		return errors.New("input.helmChart: give path, or repository and name")
	case c.Path != "" && c.Repository != "":
		return errors.New("input.helmChart: give path, or repository and name, not both")
	case c.Repository != "" && c.Name == "":
		return errors.New("input.helmChart.name: must be given with repository")
	}
	return nil
}

// ApplicationName reads spec.name of an application's configuration; "" when it has none.
func ApplicationName(data []byte) string {
	var document struct {
		Spec struct {
			Name string `yaml:"name"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return ""
	}
	return document.Spec.Name
}

// gitRemotePaths are where an application's configuration may have the key.
var gitRemotePaths = []string{
	"$.spec.plugins.kubernetes.input.helmChart.gitRemote",
	"$.spec.plugins.kubernetes_multicluster.input.helmChart.gitRemote",
}

// GitRemoteLine returns the line of gitRemote in an application's configuration; 0 where it is not found.
func GitRemoteLine(data []byte) int {
	for _, path := range gitRemotePaths {
		at, err := yaml.PathString(path)
		if err != nil {
			continue
		}
		if node, err := at.ReadNode(bytes.NewReader(data)); err == nil {
			return node.GetToken().Position.Line
		}
	}
	return 0
}
