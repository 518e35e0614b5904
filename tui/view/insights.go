// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Insights shows how deployments went: the figures of the selected row, above the list of applications.
type Insights struct {
	Theme theme.Theme
	// Report is nil before it has come.
	Report *deckv1.GetInsightsResponse
	// Rows are all applications together, and then some of them.
	Rows     []*deckv1.Insight
	Selected int
	// Waiting is said instead of the figures; Trouble above them.
	Waiting, Trouble string
	// Zone is that of times; nil is local.
	Zone *time.Location
}

// Columns of the list, without the name.
const (
	rateWidth, spanWidth, shareWidth = 12, 10, 9
	// leastName is what a name gets before columns are left out.
	leastName = 12
	// leastFigures is the height from which the figures stand above the list.
	leastFigures = 16
)

// Draw returns width columns and height lines.
func (v Insights) Draw(width, height int) string {
	th := v.Theme
	frame := box{theme: th, title: "Insights", focused: true}
	var lines []string
	for _, line := range wrapIf(v.Trouble, width-2) {
		lines = append(lines, " "+th.Bad.Render(line))
	}
	counted := ended(v.Report.GetAll())
	if counted > 0 {
		frame.right = th.Dim.Render(Count(measured(v.Report.GetAll()), "deployment") + " in " + v.length())
		frame.short = th.Dim.Render(v.length())
	}
	switch {
	case v.Waiting != "" || counted == 0:
		none := v.Waiting
		if none == "" {
			none = "No deployment has ended yet: there is nothing to measure. Deploy one: commit a change, or sync " +
				"an application."
		}
		if v.Trouble == "" {
			lines = append(append(lines, ""), empty(th, "", none, width)...)
		}
		return frame.titled(lines, width, height)
	case height < leastFigures:
		below := v.brief(width)
		if height < len(below)+4 {
			below = nil
		}
		room := height - 1 - len(lines) - len(below)
		lines = append(lines, v.list(&frame, width, room)...)
		return frame.titled(append(lines, below...), width, height)
	}
	lines = append(lines, v.figures(width)...)
	below := v.counted(width)
	room := height - 1 - len(lines) - len(below)
	if room < 4 {
		below, room = nil, room+len(below)
	}
	list := v.list(&frame, width, room)
	for len(list) < room && len(below) > 0 {
		list = append(list, "")
	}
	return frame.titled(slices.Concat(lines, list, below), width, height)
}

// length is that of the period.
func (v Insights) length() string {
	return long(v.Report.GetTo().AsTime().Sub(v.Report.GetFrom().AsTime()))
}

// brief is the figures of the selected row in a sentence.
func (v Insights) brief(width int) []string {
	var said []string
	for _, f := range figures(v.selected()) {
		if f.value != "none" {
			said = append(said, strings.ToLower(f.name)+" "+f.value)
		}
	}
	var lines []string
	for _, line := range text.Wrap(strings.Join(said, ", "), max(8, width-2)) {
		lines = append(lines, " "+v.Theme.Dim.Render(line))
	}
	return lines
}

// counted says over which period which deployments were counted.
func (v Insights) counted(width int) []string {
	all := v.Report.GetAll()
	said := fmt.Sprintf("Counted: %s that ended in the %s since %s, all that the control plane keeps.",
		Count(measured(all), "deployment"), v.length(),
		v.Report.GetFrom().AsTime().In(cmp.Or(v.Zone, time.Local)).Format("2 Jan 15:04 MST"))
	if n := all.GetCancelled(); n > 0 {
		said += fmt.Sprintf(" Not counted: %d cancelled.", n)
	}
	lines := []string{""}
	for _, line := range text.Wrap(said, max(8, width-2)) {
		lines = append(lines, " "+v.Theme.Faint.Render(line))
	}
	return lines
}

// figure is one of the four measures.
type figure struct{ name, value, from string }

func figures(i *deckv1.Insight) []figure {
	all := []figure{
		{"Frequency", Rate(i), Count(int(i.GetSucceeded()), "successful deployment")},
		{"Lead time", "none", "no commit was brought out after the first deployment"},
		{"Failure rate", "none", "no deployment has succeeded or failed"},
		{"Time to restore", "none", "no failure was followed by a success"},
	}
	if n := i.GetLeadTimes(); n > 0 {
		all[1].value = long(i.GetLeadTime().AsDuration())
		all[1].from = "from a commit to deployed, median of " + fmt.Sprint(n)
	}
	if n := i.GetSucceeded() + i.GetFailed(); n > 0 {
		all[2].value = failureRate(i)
		all[2].from = fmt.Sprintf("%d of %s failed", i.GetFailed(), Count(int(n), "deployment"))
	}
	if n := i.GetRestoreTimes(); n > 0 {
		all[3].value = long(i.GetRestoreTime().AsDuration())
		all[3].from = "from a failure to the next success, median of " + fmt.Sprint(n)
	} else if i.GetFailed() == 0 {
		all[3].from = "nothing has failed"
	}
	switch n := i.GetFailing(); {
	case n == 0:
	case i.GetApplicationId() != "":
		all[3].from += "; it is failing now"
	case n == 1:
		all[3].from += "; 1 application is failing now"
	default:
		all[3].from += fmt.Sprintf("; %d applications are failing now", n)
	}
	return all
}

// figures are the measures of the selected row, and when its deployments ended.
func (v Insights) figures(width int) []string {
	th, one := v.Theme, v.selected()
	lines := []string{"", " " + th.Title.Render(text.Cut(rowName(one), width-2, th.Ellipsis))}
	styles := []theme.Style{th.Info, th.Info, th.Good, th.Info}
	if one.GetFailed() > 0 {
		styles[2] = th.Bad
	}
	if one.GetFailing() > 0 {
		styles[3] = th.Bad
	}
	for i, f := range figures(one) {
		style := styles[i]
		if f.value == "none" {
			style = th.Dim
		}
		head := "   " + th.Text.Render(text.Pad(f.name, 17, "")) + style.Bold().Render(text.Pad(f.value, 12, "")) + " "
		var parts []string
		for part := range strings.SplitSeq(f.from, "; ") {
			parts = append(parts, text.Wrap(part, max(12, width-33))...)
		}
		if width < 50 { // the words stand below
			lines = append(lines, head)
			continue
		}
		for _, part := range parts {
			lines = append(lines, head+th.Dim.Render(part))
			head = strings.Repeat(" ", 33)
		}
	}
	return append(append(lines, v.chart(one, width)...), "")
}

// chart shows when deployments ended: two rows of bars, and the ends of the period below.
func (v Insights) chart(one *deckv1.Insight, width int) []string {
	th, parts := v.Theme, len(one.GetSucceededParts())
	if parts == 0 || len(one.GetFailedParts()) != parts || width < parts+20 {
		return nil
	}
	each := max(1, min(4, (width-22)/parts))
	most := slices.Max(append(slices.Clone(one.GetSucceededParts()), one.GetFailedParts()...))
	row := func(name string, style theme.Style, counts []uint32) string {
		line := "   " + th.Text.Render(text.Pad(name, 17, ""))
		for _, n := range counts {
			line += style.Render(strings.Repeat(barOf(th, n, most), each))
		}
		return line
	}
	from := long(v.Report.GetTo().AsTime().Sub(v.Report.GetFrom().AsTime())) + " ago"
	axis := strings.Repeat(" ", 20) + split(th, from, "now", parts*each)
	lines := []string{"", row("Succeeded", th.Good, one.GetSucceededParts())}
	if one.GetFailed() > 0 {
		lines = append(lines, row("Failed", th.Bad, one.GetFailedParts()))
	}
	return append(lines, th.Faint.Render(axis))
}

// barOf is the height of a count next to the largest one.
func barOf(th theme.Theme, n, most uint32) string {
	steps := []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	if th.ASCII {
		steps = []string{"_", "-", "=", "#"}
	}
	if n == 0 || most == 0 {
		return th.Dot
	}
	return steps[(int(n)*len(steps)-1)/int(most)]
}

// list has a row for all applications and one for each.
func (v Insights) list(frame *box, width, height int) []string {
	th, columns := v.Theme, v.columns(width)
	if height < 1 {
		return nil
	}
	var lines []string
	if height > 2 {
		head := " " + text.Pad("application", columns.name+2, th.Ellipsis)
		for _, c := range columns.shown {
			head += text.PadLeft(c.head, c.width, "")
		}
		lines = append(lines, th.Faint.Render(head))
	}
	from, to := window(len(v.Rows), height-len(lines), v.at(), v.at())
	frame.total, frame.top, frame.shown = len(v.Rows), from, to-from
	for i := from; i < to; i++ {
		one := v.Rows[i]
		sign, style, tone := th.Done, th.Good, th.Tones.Good
		if one.GetFailing() > 0 {
			sign, style, tone = th.Failed, th.Bad, th.Tones.Bad
		}
		line := " " + style.Render(sign) + " " + text.Pad(rowName(one), columns.name, th.Ellipsis)
		for _, c := range columns.shown {
			line += th.Dim.Render(text.PadLeft(c.value(one), c.width, ""))
		}
		if i == v.at() {
			line = mark(th, line, width, true, tone)
		}
		lines = append(lines, line)
	}
	return lines
}

// column is one of the list.
type column struct {
	head  string
	width int
	value func(*deckv1.Insight) string
}

type insightColumns struct {
	name  int
	shown []column
}

// columns leaves out the last ones where there is no room.
func (v Insights) columns(width int) insightColumns {
	all := []column{
		{"deployed", shareWidth, func(i *deckv1.Insight) string { return fmt.Sprint(i.GetSucceeded()) }},
		{"failed", shareWidth, failureRate},
		{"lead time", spanWidth + 1, func(i *deckv1.Insight) string {
			return timeOf(i.GetLeadTimes(), i.GetLeadTime().AsDuration())
		}},
		{"restored", spanWidth, func(i *deckv1.Insight) string {
			return timeOf(i.GetRestoreTimes(), i.GetRestoreTime().AsDuration())
		}},
		{"rate", rateWidth, Rate},
	}
	room := width - 4
	out := insightColumns{}
	for _, c := range all {
		if room-c.width < leastName {
			break
		}
		room -= c.width
		out.shown = append(out.shown, c)
	}
	if len(out.shown) == 0 {
		room -= 5
		out.shown = []column{{"", 5, failureRate}}
	}
	out.name = max(1, min(room, 40))
	return out
}

func (v Insights) at() int { return min(max(0, v.Selected), len(v.Rows)-1) }

func (v Insights) selected() *deckv1.Insight { return v.Rows[v.at()] }

func rowName(i *deckv1.Insight) string { return cmp.Or(i.GetApplicationName(), "All applications") }

// Rate is how often deployments succeed, in the unit that says it best.
func Rate(i *deckv1.Insight) string {
	a := i.GetDeploymentsADay()
	switch {
	case a == 0:
		return "too few"
	case a >= 48:
		return fmt.Sprintf("%.0f an hour", a/24)
	case a >= 1:
		return fmt.Sprintf("%.1f a day", a)
	}
	return fmt.Sprintf("%.1f a week", a*7)
}

func failureRate(i *deckv1.Insight) string {
	n := i.GetSucceeded() + i.GetFailed()
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(i.GetFailed())/float64(n))
}

func timeOf(n uint32, d time.Duration) string {
	if n == 0 {
		return "-"
	}
	return long(d)
}

// measured counts the deployments of an insight that are in its figures, ended the cancelled ones as well.
func measured(i *deckv1.Insight) int { return int(i.GetSucceeded() + i.GetFailed()) }

func ended(i *deckv1.Insight) int { return measured(i) + int(i.GetCancelled()) }

// long is a duration in two units with a blank between: "3d 4h", "12m 03s".
func long(d time.Duration) string {
	switch {
	case d < time.Minute:
		return Duration(d)
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd %dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// wrapIf wraps a text; none for an empty one.
func wrapIf(s string, width int) []string {
	if s == "" {
		return nil
	}
	return text.Wrap(text.Line(s), max(8, width))
}

// InsightText is an insight for the clipboard.
func InsightText(report *deckv1.GetInsightsResponse, one *deckv1.Insight) string {
	v := Insights{Report: report}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, last %s\n", rowName(one), v.length())
	for _, f := range figures(one) {
		fmt.Fprintf(&b, "%s: %s (%s)\n", f.name, f.value, f.from)
	}
	return b.String()
}
