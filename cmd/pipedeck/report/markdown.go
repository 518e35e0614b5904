// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Bounds of the Markdown report in bytes: a comment on GitHub takes 65,536 characters, a step summary 1 MiB.
const (
	maxMarkdown  = 60_000
	maxCell      = 500
	maxLogBlocks = 40_000
)

// Markdown returns the run as a page or the body of a comment: a table, and the logs of what failed. Logs that make it
// too long are left out; of very many applications the last, which are the best, are only counted.
func Markdown(run Run) []byte {
	var b strings.Builder
	sign := "✅"
	if run.ExitCode != 0 {
		sign = "❌"
	}
	fmt.Fprintf(&b, "### %s pipedeck ci: %s\n\n", sign, Escape(Summary(run)))
	fmt.Fprintf(&b, "Commit %s", code(fmt.Sprintf("%.12s", run.Head)))
	if run.Base != "" {
		fmt.Fprintf(&b, " after %s", code(fmt.Sprintf("%.12s", run.Base)))
	}
	fmt.Fprintf(&b, ", exit code %d after %s", run.ExitCode, short(run.Seconds))
	if run.ExitCode > 1 || run.BaseFailed || run.ExitCode == 1 && len(run.Failed()) == 0 {
		fmt.Fprintf(&b, ": %s", Escape(line.Cut(text.Line(run.Reason), 4*maxCell)))
	}
	b.WriteString("\n\n")
	if len(run.Applications) > 0 {
		b.WriteString("| application | result | strategy | duration | reason |\n|---|---|---|---|---|\n")
	}
	for i := range run.Applications {
		a := &run.Applications[i]
		row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", Escape(run.Title(a)), a.Result, Escape(dash(a.Strategy)),
			duration(a), Escape(line.Cut(Why(a), maxCell)))
		if b.Len()+len(row) > maxMarkdown {
			fmt.Fprintf(&b, "\nand %d more applications\n", len(run.Applications)-i)
			break
		}
		b.WriteString(row)
	}
	for _, a := range run.Failed() {
		lines := log(a)
		if lines == "" {
			continue
		}
		block := fmt.Sprintf("\n<details><summary>%s: logs</summary>\n\n%s\n</details>\n", html(run.Title(a)),
			Fence(lines, ""))
		if b.Len()+len(block) > maxLogBlocks {
			b.WriteString("\nOther logs are left out: they are too long for a comment.\n")
			break
		}
		b.WriteString(block)
	}
	return []byte(b.String())
}

// Escape makes a text one line that Markdown shows as it is, also in a table, and that notifies no one on GitHub.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range text.Line(s) {
		switch {
		case r == '@':
			b.WriteString("@\u200b") // a name after it would be notified
			continue
		case strings.ContainsRune("\\`*_{}[]<>()#+!|~$&", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Fence returns a text as a block of code, whatever is in it.
func Fence(s, language string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

func code(s string) string { return "`" + strings.ReplaceAll(text.Line(s), "`", "'") + "`" }

// html makes a text safe between HTML tags.
func html(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@\u200b").Replace(text.Line(s))
}
