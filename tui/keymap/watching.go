// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import "slices"

// Watching returns the bindings of m for who watches from another machine. They only move what this watcher sees. An
// action that is not listed here has no key there, so a new one has to be added on purpose.
func (m Map) Watching() Map {
	var all Map
	for _, b := range m {
		if slices.Contains(watching, b.Action) {
			if b.Action == Quit { // a watcher has nothing to tear down
				b.Help, b.Asks = "leave", false
			}
			all = append(all, b)
		}
	}
	return all
}

// watching are the actions that act neither on the environment nor on the machine that the UI runs on. Copy writes to
// the watcher's own terminal.
var watching = []Action{
	Quit, Interrupt, Help, Palette, Search, Zoom, Big, Copy, Redraw,
	NextPane, PreviousPane, ShowApplications, ShowDeployment, ShowLog, ShowPlugins, ShowEnvironment, ShowHistory,
	ShowResources, ShowInsights, Inspect,
	Up, Down, Left, Right, Top, Bottom, PageUp, PageDown, Open, Back,
	Form, Fold, Follow, Wrap, Level, Times, FirstError, Merge, SelectLines, OnlyHits, NextMatch,
	PreviousMatch, Keep, Clear, Edit,
}
