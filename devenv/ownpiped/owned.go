// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

// owned are the keys of the spec that the environment has itself, and what is used.
var owned = []struct{ key, instead string }{
	{"projectID", "the project of the environment, " + workspace.ProjectID + ", is used"},
	{"pipedID", "the environment's own piped is used"},
	{"pipedKeyFile", "the key of the environment is used"},
	{"pipedKeyData", "the key of the environment is used"},
	{"apiAddress", "the control plane of the environment is used"},
	{"name", "piped has the name of the environment"},
}

// taken are the keys of the spec that are taken over.
var taken = []string{
	"webAddress", "syncInterval", "appConfigSyncInterval", "appSelector", "git", "repositories", "plugins",
	"pluginIndex", "notifications", "secretManagement", "eventWatcher", "planPreview", "liveState", "onRemoved",
}

// leaveOutOwned leaves out what belongs to the environment, and names it unless it is the same.
func (c *Config) leaveOutOwned() {
	for _, o := range owned {
		value, has := c.spec[o.key]
		delete(c.spec, o.key)
		if has && !(o.key == "projectID" && value == workspace.ProjectID) {
			c.report.Warn("spec."+o.key, "not taken over: "+o.instead)
		}
	}
	for key := range c.spec {
		if !slices.Contains(taken, key) {
			delete(c.spec, key) // nothing reads it, which the report says
		}
	}
}

// checkSecrets leaves out keys that piped cannot use.
func (c *Config) checkSecrets() {
	if s := c.Piped.SecretManagement; s != nil && s.Type == config.SecretsGCPKMS {
		c.leaveOut("secretManagement", "spec.secretManagement",
			"not taken over: the key pair of the environment is used")
		c.Piped.SecretManagement = nil
	}
}

// leaveOut leaves out a key of the spec.
func (c *Config) leaveOut(key, field, message string) {
	delete(c.spec, key)
	c.report.Warn(field, message)
}

// unknownToPipeCD says of a key that a piped of PipeCD does not read it.
const unknownToPipeCD = "not taken over: the piped of --piped does not know this key of pipedeck"

// leaveOutOurs leaves out the keys that only our piped reads.
func (c *Config) leaveOutOurs() {
	if s := c.Piped.SecretManagement; s != nil && s.Type == config.SecretsAge {
		c.leaveOut("secretManagement", "spec.secretManagement",
			"not taken over: the piped of --piped does not know the type AGE; the key pair of the environment is used")
		c.Piped.SecretManagement = nil
	}
	if c.Piped.PluginIndex != "" {
		c.leaveOut("pluginIndex", "spec.pluginIndex", unknownToPipeCD)
		c.Piped.PluginIndex = ""
	}
	drop := func(from map[string]any, key, field string) {
		if _, has := from[key]; has {
			delete(from, key)
			c.report.Warn(field+"."+key, unknownToPipeCD)
		}
	}
	drop(c.spec, "onRemoved", "spec")
	drop(c.spec, "liveState", "spec")
	drop(mapping(c.spec, "git"), "knownHostsFile", "spec.git")
	for i, repository := range list(c.spec, "repositories") {
		drop(repository, "git", fmt.Sprintf("spec.repositories[%d]", i))
	}
	for i, receiver := range list(mapping(c.spec, "notifications"), "receivers") {
		drop(receiver, "template", fmt.Sprintf("spec.notifications.receivers[%d]", i))
	}
	for i := range c.Piped.Plugins {
		c.leaveOutOfPlugin(i)
	}
}

func (c *Config) leaveOutOfPlugin(i int) {
	p, at := &c.Piped.Plugins[i], fmt.Sprintf("spec.plugins[%d]", i)
	if _, _, indexed := config.PluginReference(p.URL); indexed {
		c.report.Add(at+".url", "is a name in a plugin index, which the piped of --piped does not read: want a URL "+
			"with file://, https:// or oci://")
	}
	for _, key := range []string{"sha256", "signature", "stages", "limits"} {
		if c.report.Has(at + "." + key) {
			c.report.Warn(at+"."+key, unknownToPipeCD)
		}
	}
	p.SHA256, p.Signature, p.Stages, p.Limits = "", nil, nil, config.PluginLimits{}
}

// mapping returns a mapping in another one; an empty one when there is none.
func mapping(in map[string]any, key string) map[string]any {
	if found, ok := in[key].(map[string]any); ok {
		return found
	}
	return map[string]any{}
}

// list returns the mappings of a list, in its order.
func list(in map[string]any, key string) (all []map[string]any) {
	entries, _ := in[key].([]any)
	for _, entry := range entries {
		one, _ := entry.(map[string]any)
		if one == nil {
			one = map[string]any{}
		}
		all = append(all, one)
	}
	return all
}
