// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

type testOptions struct {
	Wait  sdk.Duration      `json:"wait"`
	Count int               `json:"count"`
	Names []string          `json:"names"`
	Env   map[string]string `json:"env"`
}

func (o *testOptions) Validate() error {
	if o.Count < 0 {
		return errors.New("count is negative")
	}
	return nil
}

func TestDecodeOptions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with string
		want testOptions
		err  string
	}{
		"nothing, as in a quick sync": {},
		"a duration as text": {with: `{"wait":"1m30s"}`,
			want: testOptions{Wait: sdk.Duration(90 * time.Second)}},
		"a duration in nanoseconds":  {with: `{"wait":1000}`, want: testOptions{Wait: 1000}},
		"unknown keys":               {with: `{"other":1,"count":2}`, want: testOptions{Count: 2}},
		"a wrong duration":           {with: `{"wait":"soon"}`, err: `"soon" is not a duration`},
		"a duration of another type": {with: `{"wait":[]}`, err: `[] is not a duration`},
		"a wrong number":             {with: `{"count":"2"}`, err: "count must be a whole number, not a string"},
		"a wrong list":               {with: `{"names":"a"}`, err: "names must be a list, not a string"},
		"a wrong map":                {with: `{"env":[]}`, err: "env must be a map, not a list"},
		"an invalid value": {with: `{"count":-1}`,
			err: `the stage's "with" is not valid: count is negative`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := sdk.DecodeOptions[testOptions]([]byte(tc.with))
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	data, err := json.Marshal(sdk.Duration(90 * time.Second))
	require.NoError(t, err)
	require.JSONEq(t, `"1m30s"`, string(data))
}
