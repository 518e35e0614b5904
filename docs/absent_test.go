// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
)

// The list by which the embedded Kubernetes records Events is the source of the page and of doctor's line.
func TestWhatTheEmbeddedClusterLacksIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../devenv/embeddedk8s/absent/absent.yaml")
	require.NoError(t, err)
	var list struct {
		Kinds    []struct{ Kind, Of, Lacks string }
		Features []struct{ Name, Lacks string }
	}
	require.NoError(t, yaml.Unmarshal(text, &list))
	var rows, kinds, features []string
	for _, kind := range list.Kinds {
		name, ofDoctor := "`"+kind.Kind+"`", kind.Kind
		if kind.Of != "" {
			name, ofDoctor = name+", "+kind.Of, ofDoctor+" ("+kind.Of+")"
		}
		kinds = append(kinds, ofDoctor)
		rows = append(rows, "| "+name+" | "+kind.Lacks+" |")
	}
	for _, feature := range list.Features {
		features = append(features, feature.Name)
		rows = append(rows, "| "+feature.Name+" | "+feature.Lacks+" |")
	}
	page, err := os.ReadFile("embedded-kubernetes.md")
	require.NoError(t, err)
	var shown []string
	for line := range strings.Lines(string(page)) {
		isHead := strings.HasPrefix(line, "| objects of the kind |") || strings.HasPrefix(line, "| what |")
		if strings.HasPrefix(line, "| ") && !isHead {
			shown = append(shown, strings.TrimSpace(line))
		}
	}
	require.Equal(t, rows, shown)
	ofDoctor, others := embedded.Absent()
	require.Equal(t, kinds, ofDoctor)
	require.Equal(t, features, others)
}
