// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Bounds in bytes: a comment on GitHub takes 65,536 characters.
const (
	maxPage   = 60_000
	maxReason = 1_000
)

// previewPage is a result as the body of a comment: each application with its strategy, and the differences folded.
// Details that make it too long are left out, and so are the last of very many applications.
func previewPage(p *deckv1.PlanPreview) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Plan preview: merging %s (%s) into %s", report.Escape(p.GetHeadBranch()),
		line.Commit(p.GetHeadCommit()), report.Escape(p.GetBaseBranch()))
	switch n := len(p.GetApplications()); {
	case n == 0 && len(p.GetErrors()) > 0:
		b.WriteString(" is not possible\n")
	case n == 0:
		b.WriteString(" deploys nothing\n")
	default:
		fmt.Fprintf(&b, " concerns %s\n", line.Count(n, "application"))
	}
	for _, e := range p.GetErrors() {
		fmt.Fprintf(&b, "\n❌ %s\n", report.Escape(line.Cut(e, maxReason)))
	}
	for i, a := range p.GetApplications() {
		about := previewAbout(a)
		if b.Len()+len(about) > maxPage {
			fmt.Fprintf(&b, "\nand %s, which are too many for a comment: see `pipedeck plan-preview`\n",
				line.Count(len(p.GetApplications())-i, "more application"))
			break
		}
		b.WriteString(about)
		for _, target := range a.GetTargets() {
			block := previewTarget(target)
			if b.Len()+len(block) > maxPage {
				block = "\nThe differences are too long for a comment: see `pipedeck plan-preview`\n"
			}
			if b.Len()+len(block) <= maxPage+maxReason {
				b.WriteString(block)
			}
		}
	}
	return b.String()
}

func previewAbout(a *deckv1.ApplicationPlanPreview) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n#### %s\n\n", report.Escape(a.GetName()))
	var facts []string
	if a.GetNoChange() {
		facts = append(facts, "no change")
	}
	reason, warnings, _ := strings.Cut(a.GetStrategyReason(), "\n")
	if a.GetStrategy() != "" && a.GetStrategy() != "AUTO" || reason != "" {
		facts = append(facts, strings.TrimSpace(report.Escape(a.GetStrategy())+" "+
			report.Escape(line.Cut(reason, maxReason))))
	}
	facts = append(facts, "in "+report.Escape(a.GetPath()))
	b.WriteString(strings.Join(facts, ", ") + "\n")
	for warning := range strings.Lines(line.Cut(warnings, 4*maxReason)) {
		fmt.Fprintf(&b, "\n⚠️ %s\n", report.Escape(warning))
	}
	if a.GetError() != "" {
		fmt.Fprintf(&b, "\n❌ %s\n", report.Escape(line.Cut(a.GetError(), maxReason)))
	}
	return b.String()
}

func previewTarget(t *deckv1.TargetPlanPreview) string {
	title := report.Escape(fmt.Sprintf("%s(%s): %s", t.GetPlugin(), t.GetTarget(), line.Cut(t.GetSummary(), maxReason)))
	details := text.Clean(t.GetDetails())
	if strings.TrimSpace(details) == "" {
		return "\n" + title + "\n"
	}
	language := "diff"
	if t.GetLanguage() != "" && t.GetLanguage() != "diff" {
		language = ""
	}
	return fmt.Sprintf("\n%s\n\n<details><summary>differences</summary>\n\n%s\n</details>\n", title,
		report.Fence(details, language))
}
