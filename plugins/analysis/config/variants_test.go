// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAVariableWithoutAValueIsNotFilledIn(t *testing.T) {
	t.Parallel()
	v := ForApplication("shop", nil, nil)
	for _, query := range []string{`s{variant="{{ .Variant.Name }}"}`, "{{ .K8s.Namespace }}", "{{ .VariantArgs.x }}"} {
		_, err := v.Fill(query)
		require.ErrorContains(t, err, "its variables cannot be filled in", query)
		_, err = v.Of("", nil).Fill(query)
		require.Error(t, err, query)
	}
	filled, err := ForApplication("shop", map[string]string{"k8sNamespace": "n"}, nil).Of("canary", nil).
		Fill("{{ .Variant.Name }} {{ .K8s.Namespace }}")
	require.NoError(t, err)
	require.Equal(t, "canary n", filled)
}
