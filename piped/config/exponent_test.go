// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersWithAnExponent(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"1e-3": "0.001", "1e3": "1000", "-2E+2": "-200", "+1e1": "10", "1.5e-3": "0.0015",
		`"1e-3"`: `"1e-3"`, "'1e3'": `"1e3"`, "!!str 1e3": `"1e3"`, "1e400": `"1e400"`,
		"12e45g": `"12e45g"`, "e3": `"e3"`,
	} {
		value, err := JSON([]byte("a: "+written+"\n"), "")
		require.NoError(t, err, written)
		require.JSONEq(t, `{"a":`+want+`}`, string(value), written)
	}
	value, err := JSON([]byte("1e3: a\n"), "")
	require.NoError(t, err)
	require.JSONEq(t, `{"1e3":"a"}`, string(value), "keys are as they are written")
}
