// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Identities of the one project and piped of an environment.
const (
	ProjectID    = "pipedeck"
	RepositoryID = "local"
	// TargetName is the deploy target of the environment's cluster when it has no other name.
	TargetName = "local"
)

// Plugin is a plugin process for piped to start.
type Plugin struct {
	Name string
	// URL is file://, https:// or oci://.
	URL string
	// Source is the directory that URL is built from; empty for a program that is there.
	Source string
	// Debug is the address at which a debugger of the plugin listens; empty for none.
	Debug string
	// Kubernetes gives the plugin the environment's clusters as deploy targets.
	Kubernetes bool
	// Config is the plugin's own configuration; may be nil.
	Config map[string]any
	// DeployTargets are given besides the environment's clusters.
	DeployTargets []config.DeployTarget
	// SHA256 and Signature are what the program at URL must have; empty and nil for anything.
	SHA256    string
	Signature *config.PluginSignature
	// Stages and Limits are additions of ours to the piped configuration; may be nil.
	Stages []string
	Limits *config.PluginLimits
	// DefaultMemory is the memory limit where Limits has none, such as 256Mi; empty for no limit. A piped that is not
	// ours does not get it.
	DefaultMemory string
}

// limits returns the limits to write; nil for none.
func (p Plugin) limits(ours bool) *config.PluginLimits {
	if !ours || p.DefaultMemory == "" || p.Limits != nil && p.Limits.Memory != "" {
		return p.Limits
	}
	var limits config.PluginLimits
	if p.Limits != nil {
		limits = *p.Limits
	}
	limits.Memory = p.DefaultMemory
	return &limits
}

// PipedConfig is what the piped configuration of an environment is made from.
type PipedConfig struct {
	// Address is the host:port of the control plane.
	Address    string
	Repository *Repository
	// Snapshots is the repository that piped watches in place of Repository; empty for Repository itself.
	Snapshots string
	Plugins   []Plugin
	// Clusters are the names of the environment's clusters, each a deploy target.
	Clusters []string
	// Spec holds further keys of the user's own configuration: repositories are watched besides Repository,
	// secretManagement takes the place of the environment's key pair. May be nil.
	Spec map[string]any
	// Ports are the plugins' TCP ports in their order; empty lets piped choose, which only ours can.
	Ports []int
}

// PipedID names the environment's piped.
func (w *Workspace) PipedID() string { return "piped-" + w.Name }

// printYAML appends an object with the keys of its JSON, so that readers of YAML 1.1 and of YAML 1.2 get the same
// values.
func printYAML(to *bytes.Buffer, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var plain any
	if err := yaml.Unmarshal(data, &plain); err != nil { // JSON is YAML; numbers stay what they are
		return err
	}
	printer := yaml.NewEncoder(to)
	printer.SetIndent(2)
	if err := printer.Encode(plain); err != nil {
		return err
	}
	return printer.Close()
}

// WritePipedConfig writes the configuration in PipeCD v1's form, so that any piped can read it. The keys
// that it names are made by EnsureSecrets and EnsureKeyPair.
func (w *Workspace) WritePipedConfig(c PipedConfig) error {
	plugins := make([]map[string]any, 0, len(c.Plugins))
	for i, p := range c.Plugins {
		entry := map[string]any{"name": p.Name, "url": p.URL, "port": 0}
		if len(c.Ports) > 0 {
			entry["port"] = c.Ports[i]
		}
		if p.Config != nil {
			entry["config"] = p.Config
		}
		if targets := c.targetsOf(w, p); len(targets) > 0 {
			entry["deployTargets"] = targets
		}
		if p.SHA256 != "" {
			entry["sha256"] = p.SHA256
		}
		if p.Signature != nil {
			entry["signature"] = p.Signature
		}
		if len(p.Stages) > 0 {
			entry["stages"] = p.Stages
		}
		if limits := p.limits(len(c.Ports) == 0); limits != nil {
			entry["limits"] = limits
		}
		plugins = append(plugins, entry)
	}
	data := bytes.NewBufferString("# Made by pipedeck for the environment " + w.Name +
		"; it is written again at every start.\n")
	err := printYAML(data, map[string]any{
		"apiVersion": "pipecd.dev/v1beta1",
		"kind":       "Piped",
		"spec":       c.spec(w, plugins),
	})
	if err != nil {
		return err
	}
	if err := WriteFile(w.PipedConfig(), data.Bytes()); err != nil {
		return fmt.Errorf("write the piped configuration: %w", err)
	}
	return nil
}

// spec returns the spec. What the environment needs stands above the keys of the user.
func (c PipedConfig) spec(w *Workspace, plugins []map[string]any) map[string]any {
	spec := map[string]any{
		"secretManagement": map[string]any{
			"type": "KEY_PAIR",
			"config": map[string]any{"privateKeyFile": w.Keys().PrivateKeyFile(),
				"publicKeyFile": w.Keys().PublicKeyFile()},
		},
	}
	maps.Copy(spec, c.Spec)
	repositories := []any{map[string]any{
		"repoId": RepositoryID,
		"remote": "file://" + cmp.Or(c.Snapshots, c.Repository.Root),
		"branch": c.Repository.Branch,
	}}
	further, _ := c.Spec["repositories"].([]any)
	maps.Copy(spec, map[string]any{
		"projectID":    ProjectID,
		"pipedID":      w.PipedID(),
		"pipedKeyFile": w.Keys().PipedKeyFile(),
		"apiAddress":   c.Address,
		"repositories": append(repositories, further...),
		"plugins":      plugins,
	})
	return spec
}

// targetsOf returns the deploy targets of a plugin: the clusters, and those of the user.
func (c PipedConfig) targetsOf(w *Workspace, p Plugin) (targets []any) {
	if p.Kubernetes {
		for _, target := range deployTargets(w, c) {
			targets = append(targets, target)
		}
	}
	for _, target := range p.DeployTargets {
		targets = append(targets, target)
	}
	return targets
}

// deployTargets lead to the clusters. The image builder is an addition of ours: a plugin that does
// not know it skips it.
func deployTargets(w *Workspace, c PipedConfig) []map[string]any {
	targets := make([]map[string]any, 0, len(c.Clusters))
	for _, name := range c.Clusters {
		targets = append(targets, map[string]any{"name": name, "config": map[string]any{
			"kubeConfigPath": w.Kubeconfig(name),
			"imageBuilder":   map[string]any{"address": c.Address, "apiKeyFile": w.Keys().APIKeyFile()},
		}})
	}
	return targets
}
