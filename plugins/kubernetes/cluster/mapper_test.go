// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// counting counts the questions, and knows every kind but Gone.
type counting struct {
	meta.ResettableRESTMapper
	asked, resets int
}

func (c *counting) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	c.asked++
	if kind.Kind == "Gone" {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{GroupVersionKind: kind.WithVersion("v1")}, nil
}

func (c *counting) Reset() { c.resets++ }

func TestTheResourceOfAKindOfKubernetesIsLookedForOnce(t *testing.T) {
	t.Parallel()
	of := &counting{}
	m := &mapper{ResettableRESTMapper: of}
	ask := func(group, kind string, versions ...string) error {
		found, err := m.RESTMapping(schema.GroupKind{Group: group, Kind: kind}, versions...)
		if err == nil {
			require.Equal(t, kind, found.GroupVersionKind.Kind)
		}
		return err
	}
	for range 3 {
		require.NoError(t, ask("apps", "Deployment", "v1"))
		require.NoError(t, ask("", "ConfigMap", "v1"))
		require.NoError(t, ask("", "ConfigMap"))
	}
	require.Equal(t, 3, of.asked)
	for range 2 {
		require.NoError(t, ask("example.com", "Widget", "v1"))
		require.NoError(t, ask("apps", "Deployment", "v1", "v1beta1"))
		require.True(t, meta.IsNoMatchError(ask("apps", "Gone", "v1")))
	}
	require.Equal(t, 9, of.asked)
	m.Reset()
	require.Equal(t, 1, of.resets)
	require.NoError(t, ask("apps", "Deployment", "v1"))
	require.Equal(t, 10, of.asked)
}
