// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/theme"
)

const changesOfAPlan = `{"name":"here","counts":{"create":1,"destroy":1,"replace":1,"update":2},
	"resources":[
		{"address":"db.old","action":"destroy","reason":"it is not in the configuration","fields":[
			{"path":"size","before":"1"}]},
		{"address":"vm.web","action":"replace","reason":"image cannot be changed in place","fields":[
			{"path":"image","before":"\"v1\"","after":"\"v2\"","forces":true},
			{"path":"token","before":"(sensitive value)","after":"(sensitive value)","secret":true}]},
		{"address":"vm.up","action":"update","fields":[{"path":"tags.a","before":"\"x\""}],"moreFields":3},
		{"address":"vm.new","action":"create","fields":[{"path":"id","after":"(known after apply)"}]}],
	"moreResources":1,"outputs":[{"name":"url","action":"update","field":{"before":"1","after":"2"}}]}`

func inspectedPlan(metadata string, width int, options theme.Options) string {
	v := Inspector{Theme: theme.New(options), Run: &deckv1.GetStageRunResponse{
		Metadata: map[string]string{"pipedeck/planned-changes": metadata, "other": "note"}}}
	return ansi.Strip(strings.Join(append(v.planned(width), v.notes(width)...), "\n"))
}

func TestPlannedChangesAreATableThatNeedsNoColour(t *testing.T) {
	t.Parallel()
	drawn := inspectedPlan(`{"targets":[`+changesOfAPlan+`]}`, 80, theme.Options{NoColor: true})
	require.Contains(t, drawn, ` Planned changes
 1 to destroy, 1 to replace, 2 to change, 1 to create, 1 output
 -   db.old  destroyed: it is not in the configuration
 ±   vm.web  replaced: image cannot be changed in place
       image  "v1" → "v2"  replaces it
       token  (sensitive value) → (sensitive value)
 ~   vm.up  changed
       tags.a  "x" → none
       and 3 more fields
 +   vm.new  created
       id  (known after apply)
     and 1 more resource
 ~   output url  1 → 2
`)
	require.NotContains(t, drawn, "moreFields", "the metadata that is drawn is not shown again")
	require.Contains(t, drawn, "other: note")

	ascii := inspectedPlan(`{"targets":[`+changesOfAPlan+`]}`, 80, theme.Options{NoColor: true, ASCII: true})
	require.Contains(t, ascii, ` -/+ vm.web  replaced`)
	require.Contains(t, ascii, `image  "v1" -> "v2"`)
	for _, r := range ascii {
		require.Less(t, r, rune(128), "a character beyond ASCII in %s", ascii)
	}
}

func TestPlannedChangesOfSeveralTargetsAndOfOtherForms(t *testing.T) {
	t.Parallel()
	both := inspectedPlan(`{"targets":[{"name":"east"},`+changesOfAPlan+`]}`, 60, theme.Options{NoColor: true})
	require.Contains(t, both, " east: no changes\n here: 1 to destroy")
	for _, line := range strings.Split(inspectedPlan(`{"targets":[`+changesOfAPlan+`]}`, 30,
		theme.Options{NoColor: true}), "\n") {
		require.LessOrEqual(t, ansi.StringWidth(line), 30, line)
	}
	for _, metadata := range []string{"", "x", "[]", `{"targets":1}`, `{"targets":[{"resources":7}]}`} {
		require.NotContains(t, inspectedPlan(metadata, 60, theme.Options{}), "Planned", metadata)
	}
}

func TestAPreviewShowsChangesAsDataAsATableAndOthersAsText(t *testing.T) {
	t.Parallel()
	preview := &deckv1.PlanPreview{Applications: []*deckv1.ApplicationPlanPreview{{Name: "net", Targets: []*deckv1.
		TargetPlanPreview{
		{Plugin: "terraform", Target: "here", Summary: "many", Details: "the text", Changes: changesOfAPlan},
		{Plugin: "kubernetes", Target: "there", Summary: "few", Details: "+ words"},
	}}}}
	var lines []string
	for _, line := range PreviewLines(theme.New(theme.Options{}), preview) {
		lines = append(lines, string(line.Kind)+line.Text)
	}
	drawn := strings.Join(lines, "\n")
	require.Contains(t, drawn, "-    ±   vm.web  replaced: image cannot be changed in place\n"+
		"           image  \"v1\" → \"v2\"  replaces it\n")
	require.NotContains(t, drawn, "the text")
	require.Contains(t, drawn, "    + words")
}
