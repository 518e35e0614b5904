// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

// Glyphs are the characters that are not text. Each icon takes one column.
type Glyphs struct {
	// Icons of states.
	Done, Active, Failed, Hollow, Skipped, Cancelled, Undo, Question, Warning string
	// Wait marks a stage that waits for a person.
	Wait string
	// Differs marks what is not as in Git.
	Differs string
	// Spinner shows that work goes on, one frame after the other.
	Spinner []string
	// Mark stands before the selected row.
	Mark string
	// Rail connects stages in a row; Fork and Last lead to stages side by side.
	Rail, Fork, Last string
	// Frame corners and edges.
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical string
	// Heavy is a horizontal line that is seen first.
	Heavy string
	// Thumb is the part of a frame's edge that shows the place in a longer text.
	Thumb string
	// Above and Below lead to lines out of sight.
	Above, Below string
	// Full and Empty fill a progress bar.
	Full, Empty string
	// Spark are the heights of a bar in a line of text, the lowest first.
	Spark []string
	// Folded leads to lines that are not shown.
	Folded string
	// Ellipsis marks cut text, Dot separates, Arrow leads to what to do, Continued marks a wrapped line.
	Ellipsis, Dot, Arrow, Continued string
}

func unicodeGlyphs() Glyphs {
	return Glyphs{
		Done: "✓", Active: "●", Failed: "✗", Hollow: "○", Skipped: "»", Cancelled: "⊘", Undo: "↺", Question: "?",
		Warning: "!",
		Wait:    "◆",
		Differs: "≠",
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
		Mark:    "▌",
		Rail:    "│", Fork: "├─", Last: "╰─",
		TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯", Horizontal: "─", Vertical: "│",
		Heavy: "━", Thumb: "┃",
		Above: "↑", Below: "↓",
		Full: "█", Empty: "░",
		Spark:    []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Folded:   "▸",
		Ellipsis: "…", Dot: "·", Arrow: "→", Continued: "↪",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		Done: "v", Active: "*", Failed: "x", Hollow: "o", Skipped: ">", Cancelled: "/", Undo: "<", Question: "-",
		Warning: "!",
		Wait:    "?",
		Differs: "%",
		Spinner: []string{"|", "/", "-", "\\"},
		Mark:    ">",
		Rail:    "|", Last: "`-", Fork: "|-",
		TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Horizontal: "-", Vertical: "|",
		Heavy: "=", Thumb: "#",
		Above: "^", Below: "v",
		Full: "#", Empty: ".",
		Spark:    []string{".", ":", "-", "=", "+", "*", "#", "@"},
		Folded:   ">",
		Ellipsis: "~", Dot: "-", Arrow: "->", Continued: "\\",
	}
}
