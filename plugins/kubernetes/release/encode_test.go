// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	written := map[string]any{"name": "web", "version": json.Number("12345678901234567"), "more": []any{"a", nil}}
	data, err := encode(written)
	require.NoError(t, err)
	read, err := decode(data)
	require.NoError(t, err)
	require.Equal(t, written, read)
}

func TestWhatIsTooLargeForASecretIsRefused(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 2<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	_, err = encode(noise)
	require.ErrorIs(t, err, errTooLarge)
}

func TestWhatIsNoRecordIsAnError(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "!", "aGVsbG8=", "YUdWc2JHOD0="} {
		_, err := decode(data)
		require.Error(t, err, data)
	}
}

func FuzzDecode(f *testing.F) {
	good, err := encode(map[string]any{"a": 1})
	require.NoError(f, err)
	f.Add(good)
	f.Add("aGVsbG8=")
	f.Fuzz(func(t *testing.T, data string) {
		if record, err := decode(data); err == nil {
			_, err := encode(record)
			require.NoError(t, err)
		}
	})
}

func TestHooksAreNotInTheManifestOfARecord(t *testing.T) {
	t.Parallel()
	manifests, err := manifest.Parse([]byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {list: "- x"}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: b
  annotations: {helm.sh/hook: "pre-install, pre-upgrade", helm.sh/hook-weight: "-5",
    helm.sh/hook-delete-policy: hook-succeeded}
`), "chart/all.yaml")
	require.NoError(t, err)
	r := Record{Release: &helm.Release{Name: "web", Chart: &chart.Chart{}}, Namespace: "shop", Manifests: manifests,
		Description: "x", Now: time.Unix(100, 0)}
	made, err := r.helm(3, time.Unix(50, 0))
	require.NoError(t, err)
	require.Equal(t, "---\n# Source: chart/all.yaml\napiVersion: v1\ndata:\n  list: '- x'\nkind: ConfigMap\n"+
		"metadata:\n  name: a\n", made.Manifest)
	require.Len(t, made.Hooks, 1)
	require.Equal(t, -5, made.Hooks[0].Weight)
	require.Len(t, made.Hooks[0].Events, 2)
	require.Len(t, made.Hooks[0].DeletePolicies, 1)
	require.Equal(t, 3, made.Version)
}
