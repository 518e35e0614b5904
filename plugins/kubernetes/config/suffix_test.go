// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestASuffixThatNoNameMayHaveIsRefused(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"v2", "canary", "a.b", "-x", "1", "a-b.c-d", "-", "a-", "a.", ".a", "a.-b", "A",
		"a_b"} {
		with, err := json.Marshal(map[string]string{"suffix": suffix})
		require.NoError(t, err)
		valid := len(validation.IsDNS1123Subdomain("web-"+suffix)) == 0
		_, primary := DecodePrimary(with)
		_, canary := DecodeCanary(with)
		_, baseline := DecodeBaseline(with)
		for _, err := range []error{primary, canary, baseline} {
			if valid {
				require.NoError(t, err, suffix)
				continue
			}
			require.ErrorContains(t, err, "ends with a letter or a digit", suffix)
		}
	}
	o, err := DecodeCanary([]byte(`{"suffix": ""}`))
	require.NoError(t, err)
	require.EqualValues(t, DefaultCanaryValue, o.Suffix)
}
