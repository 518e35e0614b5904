// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package unit_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
	"github.com/pipedeck/pipedeck/plugins/sdk/unit"
)

type options struct {
	// Replicas is how many there are.
	Replicas unit.Replicas `json:"replicas"`
	// Percent is a share.
	Percent unit.Percentage `json:"percent"`
}

func TestAmountsAreReadInAllTheirForms(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]struct {
		of10    int
		percent int
		again   string
	}{
		`{}`:                                    {7, 8, `{"replicas":null,"percent":null}`},
		`{"replicas": null, "percent": null}`:   {7, 8, `{"replicas":null,"percent":null}`},
		`{"replicas": 3, "percent": 20}`:        {3, 20, `{"replicas":3,"percent":20}`},
		`{"replicas": "3", "percent": "20"}`:    {3, 20, `{"replicas":3,"percent":20}`},
		`{"replicas": "25%", "percent": "0%"}`:  {3, 0, `{"replicas":"25%","percent":0}`},
		`{"replicas": "100%", "percent": 100}`:  {10, 100, `{"replicas":"100%","percent":100}`},
		`{"replicas": "0%", "percent": "100%"}`: {0, 100, `{"replicas":"0%","percent":100}`},
	} {
		var o options
		require.NoError(t, json.Unmarshal([]byte(given), &o), given)
		require.Equal(t, want.of10, o.Replicas.Of(10, 7), given)
		require.Equal(t, want.percent, o.Percent.Or(8), given)
		again, err := json.Marshal(o)
		require.NoError(t, err)
		require.Equal(t, want.again, string(again))
	}
}

func TestAmountsThatMakeNoSenseAreRefusedWithTheForms(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"replicas": -1}`:     `"-1" is not a number of replicas; write one as 3 or "50%"`,
		`{"replicas": 1.5}`:    `"1.5" is not a number of replicas`,
		`{"replicas": "101%"}`: "is more than all replicas",
		`{"replicas": "half"}`: `"half" is not a number of replicas`,
		`{"replicas": "+3"}`:   "is not a number of replicas",
		`{"replicas": [3]}`:    "is not a number of replicas",
		`{"percent": 101}`:     `"101" is not a percentage between 0 and 100; write one as 20 or "20%"`,
		`{"percent": "20 %"}`:  "is not a percentage",
		`{"percent": true}`:    "is not a percentage",
		`{"percent": "20%%"}`:  "is not a percentage",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(given), new(options)), want, given)
	}
}

func TestAmountsAreInTheSchemaOfOptions(t *testing.T) {
	t.Parallel()
	document, err := optionschema.Generate(optionschema.Types{Plugin: "test", Config: options{}})
	require.NoError(t, err)
	require.Contains(t, string(document), `a share such as \"50%\"`)
	require.Contains(t, string(document), `"maximum": 100`)
}

func TestAShareOfSomeIsNeverNone(t *testing.T) {
	t.Parallel()
	for whole := range 30 {
		for percent := 0; percent <= 100; percent++ {
			got := unit.Share(percent).Of(whole, -1)
			require.True(t, got*100 >= whole*percent && (got-1)*100 < whole*percent, "%d%% of %d is %d",
				percent, whole, got)
		}
	}
	require.Equal(t, 0, unit.Count(-3).Of(5, 1))
	require.Equal(t, "100%", unit.Share(300).String())
}

func ExampleReplicas() {
	var o struct {
		Canary unit.Replicas `json:"canary"`
	}
	_ = json.Unmarshal([]byte(`{"canary": "30%"}`), &o)
	fmt.Println(o.Canary, "of 5 is", o.Canary.Of(5, 1))
	// Output: 30% of 5 is 2
}
