// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIntervalAndAStepAreASecondOrMore(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`{"duration": "1m", "https": [{"url": "http://a/", "interval": "1ns"}]}`: "https[0]: interval 1ns " +
			"is too short: want 1s or more",
		`{"duration": "1m", "https": [{"url": "http://a/", "interval": "1s"}]}`: "",
		`{"duration": "1m", "metrics": [{"provider": "p", "query": "q", "interval": "10s", "step": "999ms",
			"expected": {"max": 1}}]}`: "metrics[0]: step 999ms is too short: want 1s or more",
		`{"duration": "1m", "logs": [{"provider": "p", "query": "q", "interval": "500ms"}]}`: "logs[0]: interval " +
			"500ms is too short: want 1s or more",
	} {
		var o Options
		require.NoError(t, json.Unmarshal([]byte(options), &o))
		if err := o.Validate(); want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}
