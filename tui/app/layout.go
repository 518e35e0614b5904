// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import "strings"

// rect is a part of the screen, in columns and lines from its upper left corner.
type rect struct{ x, y, width, height int }

// layout says where the parts of the screen stand. The parts with an area cover the screen without overlap.
type layout struct {
	header, status, footer rect
	// strip names the applications where the left column has no room.
	strip rect
	// applications stand above plugins in the left column.
	applications, plugins rect
	// side is the right column or the only one without log, or all between header and status while the environment
	// starts.
	side, log rect
	// card stands below side and log, or below the log next to side; without height where there is none.
	card rect
}

// demand is what the content asks of the layout.
type demand struct {
	// main says that the applications are shown; wide says that they have the left column, with the plugins.
	main, wide bool
	// plugins is how many plugins the list has.
	plugins int
	// stages returns the height that the stages want, where they can choose at most most; nil where side has no log.
	stages func(width, most int) int
}

const (
	// gap stands between columns.
	gap = 2
	// sideBySide is the width from which the log stands next to the stages instead of below.
	sideBySide = 130
	// minLog is the least height of the log below the stages.
	minLog = 6
	// minStages is the least height of the stages above a log or card.
	minStages = 8
	// minTail is the least height of the log below the stages on a small screen.
	minTail = 4
)

// arrange returns the layout of a screen of at least minWidth and minHeight.
func arrange(width, height int, need demand) layout {
	l := layout{
		header: rect{0, 0, width, 1},
		status: rect{0, height - 2, width, 1},
		footer: rect{0, height - 1, width, 1},
		side:   rect{0, 1, width, height - 3},
	}
	switch {
	case !need.main:
		return l
	case need.wide:
		l.columns(need.plugins)
	default:
		l.strip = rect{0, 1, width, 1}
		l.side = rect{0, 2, width, height - 4}
	}
	if need.stages != nil {
		l.side, l.log = splitLog(l.side, need.wide, need.stages)
	}
	return l
}

// columns puts the lists at the left of the rest.
func (l *layout) columns(plugins int) {
	width := l.side.width
	left, body := max(26, min(40, width*3/10)), l.side
	below := max(3, min(plugins+1, body.height/2))
	l.applications = rect{0, body.y, left, body.height - below}
	l.plugins = rect{0, body.y + body.height - below, left, below}
	l.side = rect{left, body.y, width - left, body.height}
}

// splitLog gives the stages what they need, and the log at least a third; columns says whether the log may stand
// next to them.
func splitLog(all rect, columns bool, stages func(width, most int) int) (side, log rect) {
	side, log = all, all
	if columns && all.width >= sideBySide {
		side.width = max(64, all.width*2/5)
		log.x, log.width = all.x+side.width, all.width-side.width
		return side, log
	}
	most := max(minStages, all.height-max(minLog, all.height*2/5))
	above := min(most, stages(all.width, most))
	side.height = max(minStages, min(above, all.height-minLog))
	log.y, log.height = all.y+side.height, all.height-side.height
	return side, log
}

// giveCard makes room for a card below all else in its column, as high as height says for at most most lines. The
// stages keep minStages lines, and the log yields to the card where not both have room.
func (l *layout) giveCard(height func(width, most int) int) {
	switch {
	case l.log.height > 0 && l.log.y == l.side.y: // next to the stages
		l.card = l.log.foot(height(l.log.width, l.log.height-minTail))
		l.log.height -= l.card.height
	case l.log.height > 0:
		all := rect{l.side.x, l.side.y, l.side.width, l.side.height + l.log.height}
		l.card = all.foot(height(all.width, all.height-minStages))
		rest := all.height - l.card.height
		if l.side.height = min(l.side.height, max(minStages, rest-minTail)); rest-l.side.height < minTail {
			l.side.height = rest
		}
		l.log.y, l.log.height = all.y+l.side.height, rest-l.side.height
	default:
		l.card = l.side.foot(height(l.side.width, l.side.height-minStages))
		l.side.height -= l.card.height
	}
}

// foot is the lowest lines of a rectangle; all but its place is zero where it is to have none.
func (r rect) foot(height int) rect {
	return rect{r.x, r.y + r.height - height, r.width, height}
}

// part is what is drawn into a rectangle: exactly its width and height.
type part struct {
	in      rect
	content string
}

// cover draws lines over the screen, the last one at row y: what is said above the footer may need more than its row.
func cover(screen string, lines []string, y int) string {
	if len(lines) < 2 {
		return screen
	}
	rows := strings.Split(screen, "\n")
	for i, line := range lines {
		if at := y - len(lines) + 1 + i; at >= 0 && at < len(rows) {
			rows[at] = line
		}
	}
	return strings.Join(rows, "\n")
}

// compose puts parts that cover the screen together, from the left to the right in each line.
func compose(height int, parts []part) string {
	lines := make([]strings.Builder, height)
	for _, p := range parts {
		for i, line := range strings.Split(p.content, "\n") {
			if i < p.in.height && p.in.y+i < height {
				lines[p.in.y+i].WriteString(line)
			}
		}
	}
	var out strings.Builder
	for i := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(lines[i].String())
	}
	return out.String()
}
