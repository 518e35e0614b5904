// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"strings"
	"testing"
)

// Whatever an application's configuration holds: rules are read or refused, and each has its parts.
func FuzzIgnoreRules(f *testing.F) {
	f.Add("apps/v1:Deployment:default:web#spec.template.spec.containers[0].image")
	f.Add("v1:Secret::keys#data")
	f.Add("a:b:c#d")
	f.Fuzz(func(t *testing.T, rule string) {
		rules, err := ignoreRules([]byte("spec:\n  driftDetection:\n    ignoreFields:\n      - '" +
			strings.ReplaceAll(rule, "'", "''") + "'\n"))
		if err != nil {
			return
		}
		for _, r := range rules {
			if r.Field == "" {
				t.Fatalf("%q gives a rule without a path", rule)
			}
		}
	})
}
