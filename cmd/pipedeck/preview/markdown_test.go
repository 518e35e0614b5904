// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestAPlanPreviewIsTheBodyOfAComment(t *testing.T) {
	t.Parallel()
	page := previewPage(&deckv1.PlanPreview{HeadBranch: "feature_x", HeadCommit: "0123456789abcdef", BaseBranch: "main",
		Applications: []*deckv1.ApplicationPlanPreview{
			{Name: "web|front", Path: "apps/web", Strategy: "PIPELINE",
				StrategyReason: "Pipeline: the image changes\nodd key",
				Targets: []*deckv1.TargetPlanPreview{{Plugin: "kubernetes", Target: "local", Summary: "1 changed",
					Language: "diff", Details: "-a: 1\n+a: 2\n```\n"}}},
			{Name: "db", Path: "apps/db", NoChange: true, Error: "the chart <x> is missing, @ann"},
		}})
	require.Contains(t, page, "### Plan preview: merging feature\\_x (0123456) into main concerns 2 applications\n")
	require.Contains(t, page,
		"#### web\\|front\n\nPIPELINE Pipeline: the image changes, in apps/web\n\n⚠️ odd key\n")
	require.Contains(t, page, "kubernetes\\(local\\): 1 changed\n\n<details>")
	require.Contains(t, page, "````diff\n-a: 1\n+a: 2\n```\n````\n")
	require.Contains(t, page, "no change, in apps/db\n\n❌ the chart \\<x\\> is missing, @\u200bann\n")
	page = previewPage(&deckv1.PlanPreview{HeadBranch: "f", BaseBranch: "main"})
	require.Contains(t, page, "into main deploys nothing")
	page = previewPage(&deckv1.PlanPreview{Errors: []string{"conflict"}})
	require.Contains(t, page, "is not possible\n\n❌ conflict")
}

func TestALongPlanPreviewFitsIntoAComment(t *testing.T) {
	t.Parallel()
	p := &deckv1.PlanPreview{}
	for i := range 1000 {
		p.Applications = append(p.Applications, &deckv1.ApplicationPlanPreview{Name: fmt.Sprint("app-", i),
			Error: strings.Repeat("x", 9000), Targets: []*deckv1.TargetPlanPreview{
				{Details: strings.Repeat("+line\n", 20_000)}, {Details: strings.Repeat("+line\n", 20_000)}}})
	}
	page := previewPage(p)
	require.Less(t, len(page), 65_536)
	require.Contains(t, page, "The differences are too long for a comment")
	require.Contains(t, page, "more applications, which are too many")
}
