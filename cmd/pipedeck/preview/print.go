// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"fmt"
	"io"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// printPreview writes a result for people, whose text is clean already.
func printPreview(w io.Writer, p *deckv1.PlanPreview, paint format.Painter) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Merging %s (%s) into %s", p.GetHeadBranch(), line.Commit(p.GetHeadCommit()), p.GetBaseBranch())
	switch n := len(p.GetApplications()); {
	case n == 0 && len(p.GetErrors()) > 0:
		b.WriteString(" cannot be previewed\n")
	case n == 0:
		b.WriteString(" deploys nothing\n")
	case n == 1:
		b.WriteString(" concerns 1 application\n")
	default:
		fmt.Fprintf(&b, " concerns %d applications\n", n)
	}
	for _, e := range p.GetErrors() {
		fmt.Fprintf(&b, "\n%s\n", paint.Of('!', indented("error: "+e, "  ")))
	}
	for _, a := range p.GetApplications() {
		printApplication(&b, a, paint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printApplication(b *strings.Builder, a *deckv1.ApplicationPlanPreview, paint format.Painter) {
	fmt.Fprintf(b, "\n%s  %s", paint.Of('*', a.GetName()), a.GetPath())
	if a.GetNoChange() {
		b.WriteString("  no change")
	}
	if reason := a.GetStrategyReason(); reason != "" {
		reason, warnings, warned := strings.Cut(reason, "\n")
		fmt.Fprintf(b, "\n  %s  %s", a.GetStrategy(), reason)
		if warned {
			fmt.Fprintf(b, "\n%s", paint.Of('!', "  "+strings.ReplaceAll(warnings, "\n", "\n  ")))
		}
	}
	b.WriteByte('\n')
	for _, one := range a.GetTargets() {
		fmt.Fprintf(b, "  %s(%s)  %s\n", one.GetPlugin(), one.GetTarget(), one.GetSummary())
		if one.GetDetails() == "" {
			continue
		}
		b.WriteByte('\n')
		for line := range strings.Lines(one.GetDetails()) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" {
				b.WriteByte('\n')
				continue
			}
			kind := line[0]
			if one.GetLanguage() != "diff" {
				kind = ' '
			}
			fmt.Fprintf(b, "    %s\n", paint.Of(kind, line))
		}
	}
	if a.GetError() != "" {
		fmt.Fprintf(b, "%s\n", paint.Of('!', indented("error: "+a.GetError(), "  ")))
	}
}

// indented puts every line behind the indent.
func indented(text, indent string) string {
	return indent + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent+"  ")
}
