// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"slices"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

const (
	// maxSamples and maxOutput bound what is remembered of a plugin.
	maxSamples = 60
	maxOutput  = 2000
)

// PluginHistory is what a plugin has used and written since the deck was there.
type PluginHistory struct {
	// CPU is in hundredths of a core, Memory in bytes: one sample for each report of a running process, oldest first.
	CPU, Memory []float64

	output []OutputLine
	// dropped is how many lines are remembered no more, seen how many the plugin had written at its last report.
	dropped int
	seen    int64
}

// OutputLine is one line that a plugin process wrote, or a note that some are missing.
type OutputLine struct {
	At   time.Time
	Text string
}

// PluginHistory returns what is remembered of a plugin, by its PluginKey; nil for nothing. It belongs to the deck.
func (d *Deck) PluginHistory(key string) *PluginHistory { return d.pluginHistory[key] }

// Output returns the lines from place on, and the place behind the last.
func (h *PluginHistory) Output(from int) (lines []OutputLine, next int) {
	if h == nil {
		return nil, 0
	}
	return h.output[max(0, min(from-h.dropped, len(h.output))):], h.dropped + len(h.output)
}

// remember takes what a report adds.
func (d *Deck) remember(plugin *deckv1.Plugin) {
	if d.pluginHistory == nil {
		d.pluginHistory = map[string]*PluginHistory{}
	}
	h := d.pluginHistory[PluginKey(plugin)]
	if h == nil {
		h = &PluginHistory{}
		d.pluginHistory[PluginKey(plugin)] = h
	}
	if plugin.GetPid() > 0 {
		h.CPU = bounded(append(h.CPU, plugin.GetCpuPercent()), maxSamples)
		h.Memory = bounded(append(h.Memory, float64(plugin.GetRssBytes())), maxSamples)
	}
	h.write(plugin)
}

// write takes the lines that the plugin has ended since its last report.
func (h *PluginHistory) write(plugin *deckv1.Plugin) {
	ended := plugin.GetLastOutput()[:min(len(plugin.GetLastOutputAt()), len(plugin.GetLastOutput()))]
	if plugin.GetOutputLines() < h.seen { // of another piped process
		h.seen = 0
	}
	fresh := plugin.GetOutputLines() - h.seen
	missed := fresh - int64(len(ended))
	if h.seen == 0 {
		missed = 0 // they are from before
	}
	h.seen = plugin.GetOutputLines()
	from := max(0, len(ended)-int(min(fresh, maxOutput)))
	for i := from; i < len(ended); i++ {
		at := plugin.GetLastOutputAt()[i].AsTime()
		if missed > 0 && i == from {
			h.output = append(h.output, OutputLine{at, fmt.Sprintf("(%d lines left out)", missed)})
		}
		h.output = append(h.output, OutputLine{at, ended[i]})
	}
	if over := len(h.output) - maxOutput; over > 0 {
		h.output, h.dropped = slices.Clone(h.output[over:]), h.dropped+over
	}
}

func bounded(list []float64, most int) []float64 { return list[max(0, len(list)-most):] }

// PluginOf returns the plugin that executes a stage; nil when none has reported that it does.
func (d *Deck) PluginOf(deployment *deckv1.Deployment, stage *deckv1.Stage) *deckv1.Plugin {
	piped := d.Application(deployment.GetApplicationId()).GetPipedId()
	for _, plugin := range d.Plugins() {
		if plugin.GetPipedId() == piped && slices.Contains(plugin.GetStages(), stage.GetName()) {
			return plugin
		}
	}
	return nil
}
