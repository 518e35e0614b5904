// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"

	"github.com/pipedeck/pipedeck/api/plugin/common"
)

// FuzzStrictSource decodes application configurations with and without strict keys: none panics, and what the strict
// decoder accepts, the other one accepts.
func FuzzStrictSource(f *testing.F) {
	for _, seed := range []string{
		"", "spec: {plugins: {p: {name: a}}}",
		"spec:\n  plugins:\n    p:\n      nmae: a\n      list: [{x: 1}, {y: 2}]\n",
		"a: &a {plugins: {p: {list: [{z: 1}]}}}\nspec: *a\n", "spec: {plugins: {p: {\"q\": 1, 'r': {s: 2}}}}",
		"? spec\n: plugins: {p: {t: 1}}\n", "spec:\n  <<: {plugins: {p: {u: 1}}}\n",
	} {
		f.Add([]byte(seed))
	}
	type app struct {
		Name string           `json:"name"`
		List []map[string]any `json:"list"`
		Of   *struct {
			X int `json:"x"`
		} `json:"of"`
	}
	f.Fuzz(func(t *testing.T, config []byte) {
		if len(config) > 4<<10 {
			return
		}
		source := &common.DeploymentSource{ApplicationConfig: config}
		_, errStrict := decodeSource[app](source, "p", decoding{strict: true})
		_, err := decodeSource[app](source, "p", decoding{})
		if errStrict == nil && err != nil {
			t.Errorf("the strict decoder accepts what the other one refuses: %v", err)
		}
	})
}
