// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/report"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/plugins/sdk/conformance"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// showCases lists the cases of --only.
func (f *testFlags) showCases(w io.Writer) error {
	selected, err := f.selected()
	if err != nil {
		return err
	}
	all := document.PluginCases{Head: document.NewHead(), Cases: []document.PluginCase{}}
	var body [][]string
	var names []string
	for _, c := range selected {
		body, names = append(body, []string{c.ID, string(c.Capability), c.Title}), append(names, c.ID)
		all.Cases = append(all.Cases, document.PluginCase{ID: c.ID, Name: c.Title, Capability: string(c.Capability),
			Why: c.Why, NextStep: c.Next})
	}
	return f.output.List(w, func() any { return all }, names, format.Table{Columns: []format.Column{
		{Head: "CASE"}, {Head: "CAPABILITY", Drop: 1}, {Head: "WHAT MUST HOLD", Text: true},
	}, Rows: body})
}

// showResults prints the results; those that have failed follow once more with all that helps.
func showResults(w io.Writer, results []conformance.Result, output *format.Output, again func(id string) string) error {
	counts := map[conformance.State]int{}
	var body [][]string
	var names []string
	all := document.PluginTest{Head: document.NewHead(), Checks: []document.PluginCheck{}}
	for _, r := range results {
		counts[r.State]++
		names = append(names, r.ID)
		body = append(body, []string{string(r.State), r.ID, r.Title, firstWords(r.Detail)})
		all.Checks = append(all.Checks, document.PluginCheck{
			ID: r.ID, Name: r.Title, Capability: string(r.Capability), State: string(r.State), Detail: r.Detail,
			Why: r.Why, NextStep: r.Next, Reproduce: again(r.ID), Seconds: r.Took.Seconds(),
		})
	}
	err := output.List(w, func() any { return all }, names, format.Table{Columns: []format.Column{
		{Head: "RESULT", State: true}, {Head: "CASE"}, {Head: "WHAT MUST HOLD", Yield: 1, Least: 20, Drop: 1},
		{Head: "DETAIL", Text: true},
	}, Rows: body})
	if err == nil && !output.Machine() && !output.Names() {
		err = showFailures(w, results, counts, again)
	}
	if failed := counts[conformance.Failed]; failed > 0 {
		err = errors.Join(err, exit.With(exit.Failed, fmt.Errorf("%s failed", line.Count(failed, "case")),
			"see docs/conformance.md for what a plugin has to do"))
	}
	return err
}

// firstWords are what a table shows of a detail of several lines.
func firstWords(detail string) string {
	first, _, _ := strings.Cut(detail, "\n")
	return first
}

func showFailures(w io.Writer, results []conformance.Result, counts map[conformance.State]int,
	again func(id string) string) error {
	var b strings.Builder
	for _, r := range results {
		if r.State == conformance.Failed {
			b.WriteString("\n" + failure(r, again(r.ID)))
		}
	}
	fmt.Fprintf(&b, "\n%s: %d passed, %d failed, %d noted, %d not applicable\n", line.Count(len(results), "case"),
		counts[conformance.Passed], counts[conformance.Failed], counts[conformance.Noted],
		counts[conformance.NotApplicable])
	b.WriteString(unseen(results))
	_, err := io.WriteString(w, b.String())
	return err
}

// unseen says which cases saw nothing because the stage does not succeed; empty when it does.
func unseen(results []conformance.Result) string {
	const without = "does not succeed" // the stage, or a quick sync
	count := 0
	for _, r := range results {
		if r.State == conformance.NotApplicable && strings.Contains(r.Detail, without) {
			count++
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("not looked at: %s, because the stage %s; give it options with --with, or an application with "+
		"--source\n", line.Count(count, "case"), without)
}

// failure is all that is known of a case that has failed.
func failure(r conformance.Result, again string) string {
	return fmt.Sprintf("failed: %s\nmust hold: %s\nseen: %s\nwhy it matters: %s\nnext step: %s\nrun it alone: "+
		"%s\n", r.ID,
		r.Title, text.Clean(r.Detail), r.Why, r.Next, again)
}

// reproduce is the command that runs one case alone, with the flags that were given.
func (f *testFlags) reproduce(cmd *cobra.Command, place, id string) string {
	words := []string{"pipedeck", "plugin", "test", quote(place), "--only", quote(id)}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "only", "list", "junit", "output", "no-headers", "verbose":
		case "config", "plugin-name", "run-limit", "source", "stage", "with":
			words = append(words, "--"+flag.Name, quote(flag.Value.String()))
		}
	})
	return strings.Join(words, " ")
}

// quote writes a word for a shell.
func quote(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:=,+@%", r)
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func writeTestJUnit(path string, results []conformance.Result, began time.Time, again func(id string) string) error {
	var cases []report.Case
	for _, r := range results {
		c := report.Case{Name: r.ID, Class: "pipedeck.plugin." + strings.ReplaceAll(string(r.Capability), " ", "-"),
			Seconds: r.Took.Seconds()}
		switch r.State {
		case conformance.Failed:
			c.Failure, c.Text = r.Title+": "+r.Detail, failure(r, again(r.ID))
		case conformance.NotApplicable:
			c.Skipped = r.Detail
		case conformance.Noted:
			c.Out = r.Detail
		}
		cases = append(cases, c)
	}
	data, err := report.JUnitCases("pipedeck plugin test", began, time.Since(began), cases)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		return exit.With(exit.Unwritten, fmt.Errorf("write the results as JUnit XML: %w", err),
			"give a file that can be written with --junit")
	}
	return nil
}
