// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADocumentHasWhatIsDestroyedFirstAndNoSecret(t *testing.T) {
	t.Parallel()
	set, err := Of(recorded(t))
	require.NoError(t, err)
	doc := set.Document("here", 64<<10)
	var heads []string
	for _, r := range doc.Resources {
		heads = append(heads, string(r.Action)+" "+r.Address)
	}
	require.Equal(t, []string{"destroy terraform_data.many[1]", "replace terraform_data.web",
		"update terraform_data.up"}, heads)
	require.Equal(t, map[Action]int{Update: 1, Replace: 1, Destroy: 1}, doc.Counts)
	require.NotEmpty(t, doc.Resources[1].Fields)
	require.Len(t, doc.Outputs, 1)
	data, err := json.Marshal(doc)
	require.NoError(t, err)
	require.NotContains(t, string(data), "hunter22")
	require.Contains(t, string(data), sensitive)
}

func TestADocumentOfAHugePlanIsBoundedAndSaysHowMuchIsLeftOut(t *testing.T) {
	t.Parallel()
	set := &Set{}
	for i := range 2000 {
		set.Resources = append(set.Resources, Resource{Address: fmt.Sprintf("x.y[%d]", i), Action: Create,
			Fields: []Field{{Path: "input", After: strings.Repeat("v", maxValue)}}})
	}
	set.Resources = append(set.Resources, Resource{Address: "x.last", Action: Destroy})
	for i := range 50 {
		set.Outputs = append(set.Outputs, Output{Name: fmt.Sprint("o", i), Action: Create,
			Field: Field{After: strings.Repeat("v", maxValue)}})
	}
	const size = 64 << 10
	doc := set.Document("here", size)
	data, err := json.Marshal(doc)
	require.NoError(t, err)
	require.LessOrEqual(t, len(data), size+size/16)
	require.Greater(t, len(data), size*3/4, "the room is used")
	require.Equal(t, "x.last", doc.Resources[0].Address, "what is destroyed is never what is left out")
	require.Equal(t, map[Action]int{Create: 2000, Destroy: 1}, doc.Counts)
	require.Equal(t, 2001, len(doc.Resources)+doc.MoreResources)
	require.Equal(t, 50, len(doc.Outputs)+doc.MoreOutputs)
	require.Positive(t, doc.MoreResources)
	require.Equal(t, 1, doc.Resources[1].MoreFields)
	require.Len(t, set.Resources[0].Fields, 1, "the set itself stays as it is")
}

func TestATextOfAHugePlanNamesWhatIsDestroyedFirstAndCountsTheRest(t *testing.T) {
	t.Parallel()
	set := &Set{}
	for i := range 400 {
		set.Resources = append(set.Resources, Resource{Address: fmt.Sprintf("x.a[%d]", i), Action: Create})
	}
	set.Resources = append(set.Resources, Resource{Address: "x.up", Action: Update},
		Resource{Address: "x.web", Action: Replace}, Resource{Address: "x.zdb", Action: Destroy})
	text := set.Diff()
	require.True(t, strings.HasPrefix(text, "- x.zdb is destroyed\n-/+ x.web is replaced\n~ x.up is changed in place\n"+
		"+ x.a[0] is created\n"), text)
	require.Contains(t, text, "… 203 more resources (203 to create); the inspector of the stage (key i) and ")
	require.Equal(t, "x.a[0]", set.Resources[0].Address, "the set itself stays as it is")
}
