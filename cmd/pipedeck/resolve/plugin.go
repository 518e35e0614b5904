// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

// Plugin finds the plugin that the word names, as NAME or PIPED/NAME. With piped, the name or id of one, only its
// plugins count.
func (w Word) Plugin(piped string) (*deckv1.Plugin, error) {
	s := w.line.State
	var choices []choice[*deckv1.Plugin]
	for _, p := range s.Plugins() {
		of := s.PipedName(p.GetPipedId())
		if piped != "" && piped != p.GetPipedId() && piped != of {
			continue
		}
		choices = append(choices, choice[*deckv1.Plugin]{
			value: p, names: []string{p.GetName(), of + "/" + p.GetName()}, argument: PluginArgument(s, p),
			about: "plugin of piped " + of + ", " + document.PluginState(p),
		})
	}
	return pick(w, "plugin", "see pipedeck plugins", choices)
}

// PluginArgument returns a word that names a plugin and no other one.
func PluginArgument(s *session.State, p *deckv1.Plugin) string {
	for _, other := range s.Plugins() {
		if other.GetName() == p.GetName() && other.GetPipedId() != p.GetPipedId() {
			return s.PipedName(p.GetPipedId()) + "/" + p.GetName()
		}
	}
	return p.GetName()
}
