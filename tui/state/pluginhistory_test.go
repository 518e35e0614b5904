// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// wrote is a report of a plugin that has ended total lines, of which the last n are there.
func wrote(total, n int, open ...string) *deckv1.Event {
	p := &deckv1.Plugin{Name: "p", Pid: 1, CpuPercent: float64(total), OutputLines: int64(total)}
	for i := total - n; i < total; i++ {
		p.LastOutput = append(p.LastOutput, fmt.Sprint("line ", i))
		p.LastOutputAt = append(p.LastOutputAt, timestamppb.New(time.Unix(int64(i), 0)))
	}
	p.LastOutput = append(p.LastOutput, open...)
	return &deckv1.Event{Kind: &deckv1.Event_Plugin{Plugin: p}}
}

func TestTheOutputOfAPluginIsPutTogetherFromItsReports(t *testing.T) {
	t.Parallel()
	d := New()
	texts := func(from int) (list []string, next int) {
		lines, next := d.PluginHistory(pluginKey("", "p")).Output(from)
		for _, line := range lines {
			list = append(list, line.Text)
		}
		return list, next
	}
	none, next := texts(0)
	require.Empty(t, none)
	require.Zero(t, next)
	d.Apply(wrote(3, 2, "unfinished"))
	list, next := texts(0)
	require.Equal(t, []string{"line 1", "line 2"}, list, "what was written before is not missing")
	d.Apply(wrote(5, 4))
	list, next = texts(next)
	require.Equal(t, []string{"line 3", "line 4"}, list)
	d.Apply(wrote(5, 4))
	list, next = texts(next)
	require.Empty(t, list)
	d.Apply(wrote(20, 2))
	list, next = texts(next)
	require.Equal(t, []string{"(13 lines left out)", "line 18", "line 19"}, list)
	d.Apply(wrote(1, 1))
	list, _ = texts(next)
	require.Equal(t, []string{"line 0"}, list, "another piped process")
	require.Equal(t, []float64{3, 5, 5, 20, 1}, d.PluginHistory(pluginKey("", "p")).CPU)
}

func TestTheHistoryOfAPluginIsBounded(t *testing.T) {
	t.Parallel()
	d := New()
	for i := 1; i <= 2*maxOutput/50; i++ {
		d.Apply(wrote(50*i, 50))
	}
	lines, next := d.PluginHistory(pluginKey("", "p")).Output(0)
	require.Len(t, lines, maxOutput)
	require.Equal(t, 2*maxOutput, next)
	require.Len(t, d.PluginHistory(pluginKey("", "p")).Memory, maxSamples)
	lines, _ = d.PluginHistory(pluginKey("", "p")).Output(next - 1)
	require.Len(t, lines, 1)
}
