// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
)

// maxMistakes bounds the mistakes of a key file on the screen; the smallest screen has room for them.
const maxMistakes = 4

// sayMistakes opens a card about the mistakes of the key file.
func (o *overlays) sayMistakes(h *host) {
	mistakes := h.file.Mistakes
	if len(mistakes) == 0 {
		return
	}
	d := &dialog{host: h, overlays: o, scope: keymap.ConfirmDialog, title: "Mistakes in the key file",
		choices: []choice{{keymap.No, "", "go on; the other lines of the file hold", o.pop}}}
	for i, mistake := range mistakes {
		if i == maxMistakes {
			d.lines = append(d.lines, fmt.Sprintf("and %d more", len(mistakes)-i))
			break
		}
		d.lines = append(d.lines, text.Line(mistake.Error()))
	}
	d.lines = append(d.lines, "", "next step: correct the lines, then run:", "  pipedeck validate "+
		text.ShellWord(text.Line(mistakes[0].File)))
	o.push(d)
}
