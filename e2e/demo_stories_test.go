// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && demos

package e2e

import "testing"

// The other stories than the tour; make e2e-demo plays them.
func TestStoriesArePlayed(t *testing.T) {
	t.Parallel()
	for name, screens := range map[string][]string{
		"failure": {`the image pipedeck.dev/hello-wrold:v1(?s:.*)step 3 of 6`, `FAILURE(?s:.*)step 4 of 6`,
			`✓ SUCCESS(?s:.*)step 6 of 6`},
		"drift":  {`step 1 of 6`, `replicas(?s:.*)step 3 of 6`, `step 6 of 6`},
		"plugin": {`waitapproval(?s:.*)step 4 of 6`, `step 5 of 6`, `✓ SUCCESS(?s:.*)step 6 of 6`},
		"dag":    {`load-test(?s:.*)step 3 of 9`, `✓ SUCCESS(?s:.*)step 5 of 9`, `missing.yaml(?s:.*)step 8 of 9`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireInOrder(t, newEnvironment(t).demo(name), screens...)
		})
	}
}
