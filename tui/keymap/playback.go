// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import "slices"

// Playback returns the bindings that a recorded session has besides those of m. Their keys mean nothing else there: the
// space bar, which pages in an environment, plays and pauses.
func (m Map) Playback() Map {
	own := playbackKeys()
	all := slices.Clone(own)
	for _, b := range m {
		if b.In(Deployment) || b.In(Log) || b.In(Applications) || slices.ContainsFunc(b.Scopes, Scope.IsPane) {
			b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool {
				return slices.ContainsFunc(own, func(o Binding) bool { return slices.Contains(o.Keys, key) })
			})
		}
		if len(b.Keys) > 0 {
			all = append(all, b)
		}
	}
	return all
}

func playbackKeys() Map {
	key := func(action Action, short, help string, rank int, keys ...string) Binding {
		return Binding{Action: action, Keys: keys, Short: short, Help: help, Rank: rank, Group: "Recorded session",
			Scopes: always}
	}
	return Map{
		key(PlayPause, "play, pause", "play or pause; at the end: begin again", 0, "space"),
		key(NextEvent, "next event", "go to the next event", 1, "]"),
		key(PreviousEvent, "", "go to the event before", 1, "["),
		key(SkipForward, "", "go 10 s forward", 2, "."),
		key(SkipBack, "", "go 10 s back", 2, ","),
		key(Faster, "faster", "play faster", 3, ">"),
		key(Slower, "", "play slower", 3, "<"),
	}
}
