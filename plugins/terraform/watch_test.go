// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASightingIsOldBeforeItsIntervalIsOver(t *testing.T) {
	t.Parallel()
	w := newWatch()
	seen := &sighting{}
	w.put("a", "commit", w.generation("a"), seen)
	found, known := w.get("a", "commit")
	require.True(t, known)
	require.Same(t, seen, found)
	_, known = w.get("a", "another commit")
	require.False(t, known)

	at := w.kept["a"].at
	w.remind(at.Add(w.interval / 2))
	_, known = w.get("a", "commit")
	require.True(t, known)
	w.remind(at.Add(w.interval - w.tick()))
	_, known = w.get("a", "commit")
	require.False(t, known, "the next tick may be after the interval")
	require.Same(t, seen, w.before("a", "commit"), "its resources are still of use")
	require.Nil(t, w.before("a", "another commit"))
}

func TestWhatAStageHasChangedIsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	w := newWatch()
	generation := w.generation("a")
	w.mark("a")
	w.put("a", "commit", generation, &sighting{})
	require.Nil(t, w.before("a", "commit"), "it was seen before the change")
	w.put("a", "commit", w.generation("a"), &sighting{})
	require.NotNil(t, w.before("a", "commit"))
	w.mark("a")
	require.Nil(t, w.before("a", "commit"))
}

func TestSightingsHaveABound(t *testing.T) {
	t.Parallel()
	w := newWatch()
	for i := range maxWatched + 1 {
		w.put(strconv.Itoa(i), "commit", 0, &sighting{})
		k := w.kept[strconv.Itoa(i)]
		k.at = time.Unix(int64(i), 0)
		w.kept[strconv.Itoa(i)] = k
	}
	require.Len(t, w.kept, maxWatched)
	require.Nil(t, w.before("0", "commit"), "the oldest one")
	require.NotNil(t, w.before(strconv.Itoa(maxWatched), "commit"))
}
