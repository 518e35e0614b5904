// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"encoding/json"
	"os"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/stretchr/testify/require"
)

// recorded is a plan of OpenTofu, as JSON.
func recorded(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/plan.json")
	require.NoError(t, err)
	return data
}

func TestAPlanIsShownWithReasonsAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	set, err := Of(recorded(t))
	require.NoError(t, err)
	require.Equal(t, "1 to change, 1 to replace, 1 to destroy, 1 output", set.Summary())
	shown := set.Diff()
	for _, want := range []string{
		"~ terraform_data.up is changed in place\n-     input = \"one\"\n+     input = \"two\"\n",
		"-/+ terraform_data.web is replaced: triggers_replace cannot be changed in place\n",
		"+     triggers_replace = [\"two\"]  # replaces the resource\n",
		"- terraform_data.many[1] is destroyed: its index is above count\n",
		"  output \"o\"\n-     value = \"one\"\n+     value = (known after apply)\n",
	} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "hunter22", "neither where it is marked nor where a resource hands it on")
	require.Equal(t, []string{"terraform_data.many[1]", "terraform_data.web"}, set.Destroyed())
	require.Equal(t, []string{"hunter22"}, set.Secrets())
	kept, err := json.Marshal(set)
	require.NoError(t, err)
	require.NotContains(t, string(kept), "hunter22")
}

func TestWhatIsLeftHasToBePartOfWhatWasShown(t *testing.T) {
	t.Parallel()
	shown := &Set{Resources: []Resource{{Address: "a", Action: Create}, {Address: "b", Action: Destroy}}}
	require.NoError(t, (&Set{}).Within(shown))
	require.NoError(t, (&Set{Resources: []Resource{{Address: "a", Action: Replace}}}).Within(shown), "it is tainted")
	require.EqualError(t, (&Set{Resources: []Resource{{Address: "b", Action: Update}}}).Within(shown),
		"update of b was not in the plan that was shown")
	require.EqualError(t, (&Set{Resources: []Resource{{Address: "c", Action: Destroy}}}).Within(shown),
		"destroy of c was not in the plan that was shown")
	require.Equal(t, []string{"b"}, shown.Without(shown.Only(Create)).Destroyed())
	tainted := reasons[tfjson.ActionReasonReplaceBecauseTainted]
	left := &Set{Resources: []Resource{{Address: "a", Action: Replace, Reason: tainted},
		{Address: "b", Action: Replace, Reason: tainted}}}
	require.Equal(t, []string{"a"}, left.Retried(shown).Destroyed(), "b was there before")
	left.Resources[0].Reason = "input cannot be changed in place"
	require.Empty(t, left.Retried(shown).Destroyed(), "a was created")
}

func TestTheDigestDependsOnTheChangesAlone(t *testing.T) {
	t.Parallel()
	one := &Set{Resources: []Resource{{Address: "a", Action: Create}, {Address: "b", Action: Destroy}}}
	other := &Set{Resources: []Resource{{Address: "b", Action: Destroy}, {Address: "a", Action: Create}}}
	require.Equal(t, one.Digest(), other.Digest())
	other.Resources[1].Fields = []Field{{Path: "input", After: "1"}}
	require.NotEqual(t, one.Digest(), other.Digest())
}

func TestAPlanOfAnUnknownFormatIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", `{"format_version": "3.0"}`} {
		_, err := Of([]byte(text))
		require.ErrorContains(t, err, "read the plan as JSON", text)
	}
}

// A resource hands on what it is given without a mark: a number, and a text that is too short to be looked for.
func TestShortTextsAndNumbersAreHiddenAsWholeValues(t *testing.T) {
	t.Parallel()
	set, err := Of([]byte(`{"format_version": "1.2", "resource_changes": [{"address": "x.a", "mode": "managed",
		"type": "x", "change": {"actions": ["update"],
			"before": {"input": {"n": 47117777, "pin": "ab", "name": "cabin"},
				"output": {"n": 47117777, "pin": "ab", "name": "cabin", "list": [47117777, 5]}, "port": 47},
			"after": {"input": {"n": 47118888, "pin": "yz", "name": "cabin"},
				"output": {"n": 47118888, "pin": "yz", "name": "cabin", "list": [47118888, 5]}, "port": 48},
			"after_unknown": {}, "before_sensitive": {"input": {"n": true, "pin": true}},
			"after_sensitive": {"input": {"n": true, "pin": true}}}}],
		"output_changes": {"o": {"actions": ["update"], "before": {"n": 47117777, "pin": "ab"},
			"after": {"n": 470, "pin": "yz"}, "after_unknown": false, "before_sensitive": false,
			"after_sensitive": false}}}`))
	require.NoError(t, err)
	const hidden = sensitive
	require.Equal(t, []Field{
		{Path: "input.n", Before: hidden, After: hidden, Secret: true},
		{Path: "input.pin", Before: hidden, After: hidden, Secret: true},
		{Path: "output.list", Before: `["(sensitive value)",5]`, After: `["(sensitive value)",5]`},
		{Path: "output.n", Before: hidden, After: hidden, Secret: true},
		{Path: "output.pin", Before: hidden, After: hidden, Secret: true},
		{Path: "port", Before: "47", After: "48"},
	}, set.Resources[0].Fields)
	require.Equal(t, `{"n":"(sensitive value)","pin":"ab"}`, set.Outputs[0].Field.Before, "a short text is many things")
	require.Equal(t, `{"n":470,"pin":"yz"}`, set.Outputs[0].Field.After)
	require.Equal(t, []string{"47117777", "47118888"}, set.Secrets(), "logs hide no short text")
}
