// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// palette is the overlay that lists every action and runs the one that is chosen.
type palette struct {
	host     *host
	overlays *overlays
	keys     keymap.Map
	// scope is that of the pane below.
	scope   keymap.Scope
	reasons func() keymap.Reasons
	// run does what the key of the action does.
	run func(keymap.Binding) tea.Cmd
	// of is the command that does the same as an action; empty for those without one.
	of   func(keymap.Action) string
	look *find
	at   int
}

func newPalette(h *host, o *overlays) *palette {
	p := &palette{host: h, overlays: o, look: newFind(h.theme, ":")}
	p.look.purpose = purpose{says: "Typing filters the actions; nothing runs before enter.", enter: "run", esc: "close"}
	p.look.changed = func() { p.at = 0 }
	p.look.kept = p.choose
	p.look.cleared = func() { o.pop() }
	p.look.begin()
	return p
}

func (p *palette) where() keymap.Scope { return keymap.PaletteOverlay }

func (p *palette) finding() *find { return p.look }

func (p *palette) move(action keymap.Action) { p.at = moved(p.at, steps(action), len(p.entries())) }

// act has nothing to do: all keys are typed.
func (p *palette) act(keymap.Action, string) tea.Cmd { return nil }

// choose runs the selected action.
func (p *palette) choose() tea.Cmd {
	entries := p.entries()
	if len(entries) == 0 {
		p.look.resume() // there is nothing to run
		return nil
	}
	p.overlays.pop()
	return p.run(entries[min(p.at, len(entries)-1)].Binding)
}

// command does the same as the selected action in a shell.
func (p *palette) command() string {
	entries := p.entries()
	if len(entries) == 0 {
		return ""
	}
	return p.of(entries[min(p.at, len(entries)-1)].Action)
}

// entries are the actions that match what was typed, the best first.
func (p *palette) entries() []view.PaletteEntry {
	var entries []view.PaletteEntry
	scores := map[keymap.Action]int{}
	for _, entry := range p.all() {
		points, found := score(p.look.query, entry.Title, entry.Short)
		if found {
			scores[entry.Action] = points
			entries = append(entries, entry)
		}
	}
	slices.SortStableFunc(entries, func(a, b view.PaletteEntry) int {
		return cmp.Compare(scores[b.Action], scores[a.Action])
	})
	return entries
}

// all is one entry for each action; where several bindings have one, that of the pane below.
func (p *palette) all() []view.PaletteEntry {
	var all []view.PaletteEntry
	reasons, refused := p.reasons(), p.host.refused()
	for _, b := range p.keys {
		if !b.Runs() || slices.Contains(refused, b.Action) {
			continue
		}
		entry := view.PaletteEntry{Binding: b, Title: title(b), Reason: reasons[b.Action]}
		if reason := p.host.elsewhere(b, p.scope); reason != "" {
			entry.Reason = reason
		}
		at := slices.IndexFunc(all, func(other view.PaletteEntry) bool { return other.Action == b.Action })
		switch {
		case at < 0:
			all = append(all, entry)
		case b.In(p.scope):
			all[at] = entry
		}
	}
	return all
}

// elsewhere is why a binding does nothing in a place where it does not hold; "" where it does.
func (h *host) elsewhere(b keymap.Binding, scope keymap.Scope) string {
	switch {
	case b.In(scope):
		return ""
	case scope == keymap.Startup:
		return "the environment starts; " + h.file.Map.Key(scope, keymap.Open) + " shows the main screen"
	}
	return "it works in: " + b.Where()
}

// title is what an action is called where its group is not seen.
func title(b keymap.Binding) string {
	if b.Group == "Go to" {
		return "Go to " + b.Help
	}
	return strings.ToUpper(b.Help[:1]) + b.Help[1:]
}

func (p *palette) restyle(th theme.Theme) { p.look.theme = th }

func (p *palette) draw(width, height int) string {
	entries := p.entries()
	return view.Palette{
		Theme: p.host.theme, Line: p.look.draw, Entries: entries, All: len(p.all()), Command: p.command(),
		Selected: min(p.at, max(0, len(entries)-1)),
	}.Draw(overlaySize(width, height, 76))
}
