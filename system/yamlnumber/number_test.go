// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package yamlnumber_test

import (
	"encoding/json"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/yamlnumber"
)

func TestNumbersWithAnExponentAreNumbersWhereverAValueStands(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"a: 1e-3":                `{"a":0.001}`,
		"a: [1e3, x, -2E+2]":     `{"a":[1000,"x",-200]}`,
		"a:\n- 1e3\n- b: 1e-1":   `{"a":[1000,{"b":0.1}]}`,
		"a: [[1e3]]":             `{"a":[[1000]]}`,
		"a: &x 1e3\nb: *x":       `{"a":1000,"b":1000}`,
		"a: !!str 1e3":           `{"a":"1e3"}`,
		"a: ['1e3', \"1e3\"]":    `{"a":["1e3","1e3"]}`,
		"a: 1e400":               `{"a":"1e400"}`,
		"1e3: [e3, 12e45g, 1.5]": `{"1e3":["e3","12e45g",1.5]}`,
	} {
		file, err := parser.ParseBytes([]byte(written), 0)
		require.NoError(t, err, written)
		yamlnumber.Convert(file.Docs[0].Body)
		var value any
		require.NoError(t, yaml.NodeToValue(file.Docs[0].Body, &value), written)
		encoded, err := json.Marshal(value)
		require.NoError(t, err, written)
		require.JSONEq(t, want, string(encoded), written)
	}
}
