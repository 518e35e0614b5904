// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import "github.com/pipedeck/pipedeck/tui/text"

// Foreign returns the style of text that came with colours, as this theme shows it: without colours where it has none,
// and without those that a terminal may have as its background. Black and white are the usual ones.
func (t Theme) Foreign(s text.Style) text.Style {
	if t.Plain {
		s.Foreground, s.Background = 0, 0
		return s
	}
	if n, ok := s.Foreground.Index(); ok && s.Background == 0 && !s.Reverse {
		switch n {
		case 0, 7, 15:
			s.Foreground = 0
		case 8:
			s.Foreground, s.Faint = 0, true
		}
	}
	return s
}
