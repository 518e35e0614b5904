// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestPluginPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ config, want, err string }{
		"plain": {config: "spec: {plugins: {kube: {a: 1, b: [x, 2.5, true, null]}}}",
			want: `{"a":1,"b":["x",2.5,true,null]}`},
		"another plugin's":     {config: "spec: {plugins: {other: {a: 1}}}"},
		"empty part":           {config: "spec:\n  plugins:\n    kube:\n"},
		"no plugins":           {config: "spec: {name: a}"},
		"no configuration":     {config: ""},
		"y and n are no bools": {config: "spec: {plugins: {kube: {n: y, off: on}}}", want: `{"n":"y","off":"on"}`},
		"keys that are numbers": {config: "spec: {plugins: {kube: {ports: {80: a, true: b}}}}",
			want: `{"ports":{"80":"a","true":"b"}}`},
		"anchors and merges": {config: "x: &x {a: 1}\nspec:\n  plugins:\n    kube:\n      c: {<<: *x, b: 2}\n" +
			"      d: *x\n", want: `{"c":{"a":1,"b":2},"d":{"a":1}}`},
		"block text": {config: "spec:\n  plugins:\n    kube:\n      run: |\n        a\n        b\n",
			want: `{"run":"a\nb\n"}`},
		"large numbers": {config: "spec: {plugins: {kube: {a: 9007199254740993, b: 0644, c: '0644'}}}",
			want: `{"a":9007199254740993,"b":420,"c":"0644"}`},
		"dates stay text":    {config: "spec: {plugins: {kube: {a: 2026-01-02}}}", want: `{"a":"2026-01-02"}`},
		"not YAML":           {config: "spec: [", err: "1:7"},
		"of the wrong shape": {config: "spec: {plugins: [a]}", err: "plugins"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part, err := pluginPart([]byte(tc.config), "kube")
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, string(part))
		})
	}
}
