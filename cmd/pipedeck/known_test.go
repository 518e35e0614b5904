// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	kubernetes "github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

// TestWhatOurPluginReadsIsKnown keeps the schemas and the reference, which come from package config,
// at what the plugin decodes: a plugin may not be imported there.
func TestWhatOurPluginReadsIsKnown(t *testing.T) {
	t.Parallel()
	known := config.KnownParts()
	// These are read to be refused with their replacement, and no editor should offer them.
	refused := []string{".input.helmChart.gitRemote"}
	for name, c := range map[string]struct{ reads, knows reflect.Type }{
		"application":         {reflect.TypeFor[kubernetes.Application](), known.Applications["kubernetes"]},
		"deploy target":       {reflect.TypeFor[kubernetes.DeployTarget](), known.DeployTargets["kubernetes"]},
		"K8S_SYNC":            {reflect.TypeFor[kubernetes.SyncOptions](), known.Stages["K8S_SYNC"]},
		"K8S_PRIMARY_ROLLOUT": {reflect.TypeFor[kubernetes.PrimaryOptions](), known.Stages["K8S_PRIMARY_ROLLOUT"]},
		"K8S_CANARY_ROLLOUT":  {reflect.TypeFor[kubernetes.CanaryOptions](), known.Stages["K8S_CANARY_ROLLOUT"]},
	} {
		knows := keys(c.knows, "")
		for key := range keys(c.reads, "") {
			if slices.Contains(refused, key) {
				require.NotContains(t, knows, key, name)
				continue
			}
			require.Contains(t, knows, key, "%s: add the key to piped/config/known_kubernetes.go and run make generate", name)
		}
	}
}

// keys are the paths of the keys that a struct is decoded from.
func keys(t reflect.Type, prefix string) map[string]bool {
	all := map[string]bool{}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return all
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		path := prefix
		if name != "" {
			path += "." + name
			all[path] = true
		} else if !field.Anonymous {
			continue
		}
		for inner := range keys(field.Type, path) {
			all[inner] = true
		}
	}
	return all
}
