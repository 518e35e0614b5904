// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Bounds of columns of the table.
const (
	maxTitle  = 32
	minReason = 20
)

// Table writes a row for each application that is at most width columns wide, the number of each result, and whole what
// a row had to cut.
func Table(w io.Writer, run Run, width int) error {
	header := [4]string{"APPLICATION", "RESULT", "STRATEGY", "DURATION"}
	rows := make([][4]string, len(run.Applications))
	var widths [4]int
	for i := range header {
		widths[i] = len(header[i])
	}
	for i := range run.Applications {
		a := &run.Applications[i]
		rows[i] = [4]string{run.Title(a), string(a.Result), dash(a.Strategy), duration(a)}
		for j, cell := range rows[i] {
			widths[j] = max(widths[j], text.Width(cell))
		}
	}
	left := max(minReason, width-widths[1]-widths[2]-widths[3]-4*2)
	widths[0] = min(widths[0], max(len(header[0]), min(maxTitle, left/2)))
	left = max(minReason, left-widths[0])
	var b strings.Builder
	put := func(cells [4]string, last string) {
		var row strings.Builder
		for i, cell := range cells {
			row.WriteString(text.Pad(cell, widths[i], "…") + "  ")
		}
		b.WriteString(strings.TrimRight(row.String()+last, " ") + "\n")
	}
	put(header, "REASON")
	var cut []*Application
	for i := range run.Applications {
		a := &run.Applications[i]
		why := Why(a)
		if text.Width(why) > left || text.Width(rows[i][0]) > widths[0] {
			cut = append(cut, a)
		}
		put(rows[i], text.Cut(why, left, "…"))
	}
	for _, a := range cut {
		fmt.Fprintf(&b, "\n%s: %s\n", run.Title(a), a.Result)
		if why := Why(a); why != "" {
			fmt.Fprintf(&b, "  %s\n", why)
		}
	}
	fmt.Fprintf(&b, "\n%s in %s\n", Summary(run), short(run.Seconds))
	_, err := io.WriteString(w, b.String())
	return err
}

// Sentences writes a sentence about each application, for screen readers.
func Sentences(w io.Writer, run Run) error {
	var b strings.Builder
	for i := range run.Applications {
		a := &run.Applications[i]
		words := strings.ToLower(strings.ReplaceAll(string(a.Result), "_", " "))
		fmt.Fprintf(&b, "Application %s: %s", run.Title(a), words)
		if why := Why(a); why != "" {
			b.WriteString(", " + why)
		}
		b.WriteString(".\n")
	}
	fmt.Fprintf(&b, "%s.\n", Summary(run))
	_, err := io.WriteString(w, b.String())
	return err
}

// Why is the reason of an application in one line, with the cause and the place where these are known.
func Why(a *Application) string {
	why := text.Line(a.Reason)
	if place := a.Place; place != nil && place.Line > 0 && !strings.Contains(why, place.String()) {
		why = place.String() + ": " + why
	}
	if a.Cause != "" {
		why = string(a.Cause) + ": " + why
	}
	return why
}

// Summary counts the applications: "25 applications: 16 FAILURE, 9 SUCCESS". A run that had nothing to deploy says so
// first.
func Summary(run Run) string {
	if run.NothingToDeploy {
		return text.Line(run.Reason) + "; " + count(run)
	}
	return count(run)
}

func count(run Run) string {
	var parts []string
	for _, result := range Results() {
		if n := run.Count(result); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	applications := line.Count(len(run.Applications), "application")
	if len(parts) == 0 {
		return applications
	}
	return applications + ": " + strings.Join(parts, ", ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return text.Line(s)
}

func duration(a *Application) string {
	if a.Deployment == "" {
		return "-"
	}
	return short(a.Seconds)
}

// short is a time as people read it: "0.3s", "12s", "2m5s".
func short(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
