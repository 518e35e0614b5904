// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// PluginName returns what users call a plugin; nil is the name alone.
type PluginName func(*deckv1.Plugin) string

func (n PluginName) of(p *deckv1.Plugin) string {
	if n == nil {
		return p.GetName()
	}
	return n(p)
}

// Plugins is the short list of plugins.
type Plugins struct {
	Theme    theme.Theme
	List     []*deckv1.Plugin
	Name     PluginName
	Selected int
	Focused  bool
}

// PluginWords are what a filter looks in: the name for users, the state, and the stages.
func PluginWords(p *deckv1.Plugin, name string) []string {
	return append([]string{name, pluginBadge(theme.Theme{}, p).word}, p.GetStages()...)
}

// Draw returns width columns and height lines.
func (v Plugins) Draw(width, height int) string {
	th := v.Theme
	frame := box{theme: th, title: "4 Plugins", focused: v.Focused}
	if len(v.List) == 0 {
		return frame.titled([]string{th.Dim.Render(" none started yet")}, width, height)
	}
	inner, rows := width, height-1
	from, to := window(len(v.List), rows, v.Selected, v.Selected)
	frame.total, frame.top, frame.shown = len(v.List), from, to-from
	running := 0
	for _, plugin := range v.List {
		if plugin.GetState() == deckv1.Plugin_STATE_RUNNING {
			running++
		}
	}
	frame.right = th.Dim.Render(fmt.Sprintf("%d/%d", running, len(v.List)))
	var lines []string
	for i := from; i < to; i++ {
		plugin := v.List[i]
		badge := pluginBadge(th, plugin)
		right := th.Dim.Render(Bytes(plugin.GetRssBytes()))
		if plugin.GetState() != deckv1.Plugin_STATE_RUNNING {
			right = badge.style.Render(badge.word)
		} else if n := crashes(plugin); n > 0 {
			right = th.Tones.Warn.Sign(th.Undo) + th.Warn.Render(fmt.Sprintf("%d ", n)) + right
		}
		line := split(th, " "+badge.dot()+" "+v.Name.of(plugin), right, inner)
		if i == v.Selected && v.Focused {
			line = mark(th, line, inner, true, badge.style)
		}
		lines = append(lines, line)
	}
	return frame.titled(lines, width, height)
}

// PluginTable shows all plugins with their figures, and the output of the selected one.
type PluginTable struct {
	Theme    theme.Theme
	List     []*deckv1.Plugin
	Name     PluginName
	Selected int
	Now      time.Time
	// Busy are the stages that run in each plugin, by state.PluginKey.
	Busy map[string][]string
	// Wrap breaks long lines of the output.
	Wrap bool
	// Up is how many lines of output the reader has gone back.
	Up int
	// None is said instead of an empty list; "" says that there is none.
	None string
}

// Draw returns width columns and height lines.
func (v PluginTable) Draw(width, height int) string {
	th := v.Theme
	if len(v.List) == 0 {
		return box{theme: th, title: "Plugins"}.titled(append([]string{""},
			empty(th, v.None, "No plugin has been started yet.", width)...), width, height)
	}
	tableHeight := min(len(v.List)+2, max(4, height/2))
	table := v.table(width, tableHeight)
	return table + "\n" + v.output(width, height-tableHeight)
}

// withBuilds is the width from which the table has room for builds, hashWidth that of the hash of one.
const (
	withBuilds = 80
	hashWidth  = 12
)

func (v PluginTable) table(width, height int) string {
	th, inner := v.Theme, width
	name := 8
	for _, plugin := range v.List {
		name = max(name, text.Width(v.Name.of(plugin)))
	}
	// What the other columns take, first on a narrow screen, then with room to spare.
	stateWidth, memory, again := 7, "mem", th.Undo
	if inner >= 70 {
		stateWidth, memory, again = 10, "memory", "crashes"
	}
	memoryWidth, againWidth := max(5, text.Width(memory)), max(2, text.Width(again))
	buildWidth := 0
	if inner >= withBuilds {
		buildWidth = 1 + hashWidth
	}
	name = max(8, min(name, inner-25-stateWidth-memoryWidth-againWidth-buildWidth))
	row := func(cells [8]string) string {
		return strings.Join([]string{
			text.Pad(cells[0], name, th.Ellipsis), text.Pad(cells[1], stateWidth, th.Ellipsis),
			text.PadLeft(cells[2], 6, ""), text.PadLeft(cells[3], 6, ""), text.PadLeft(cells[4], memoryWidth, ""),
			text.PadLeft(cells[5], 4, ""), text.PadLeft(cells[6], againWidth, "") +
				text.PadLeft(text.Cut(cells[7], max(0, buildWidth-1), ""), buildWidth, ""),
		}, " ")
	}
	head := [8]string{"name", "state", "pid", "up", memory, "cpu", again, "build"}
	lines := []string{th.Dim.Render("   " + row(head))}
	from, to := window(len(v.List), height-2, v.Selected, v.Selected)
	for i := from; i < to; i++ {
		plugin := v.List[i]
		badge := pluginBadge(th, plugin)
		pid, up, cpu := "-", "-", "-"
		if plugin.GetPid() > 0 {
			pid = fmt.Sprint(plugin.GetPid())
		}
		if plugin.GetState() == deckv1.Plugin_STATE_RUNNING {
			up = Ticking(state.Elapsed(plugin.GetStartedAt(), nil, v.Now))
			cpu = fmt.Sprintf("%.0f%%", plugin.GetCpuPercent())
		}
		line := " " + badge.dot() + " " + row([8]string{
			v.Name.of(plugin), badge.style.Render(badge.word), pid, up,
			Bytes(plugin.GetRssBytes()), cpu, fmt.Sprint(crashes(plugin)),
			text.Line(plugin.GetBuild().GetHash()),
		})
		if i == v.Selected {
			line = mark(th, line, inner, true, badge.style)
		}
		lines = append(lines, line)
	}
	frame := box{theme: th, title: "Plugins", total: len(v.List), top: from, shown: to - from}
	return frame.titled(lines, width, height)
}

// pluginHolds lists what a process has of the system, as far as it is known.
func pluginHolds(plugin *deckv1.Plugin) string {
	var held []string
	for _, count := range []struct {
		n    uint32
		what string
	}{{plugin.GetOpenFiles(), "open files"}, {plugin.GetThreads(), "threads"}, {plugin.GetGoroutines(), "goroutines"}} {
		if count.n > 0 {
			held = append(held, fmt.Sprint(count.n, " ", count.what))
		}
	}
	return strings.Join(held, ", ")
}

func (v PluginTable) output(width, height int) string {
	th, inner := v.Theme, width
	plugin := v.List[min(max(0, v.Selected), len(v.List)-1)]
	var head []string
	if detail := text.Line(plugin.GetDetail()); detail != "" {
		style := pluginBadge(th, plugin).style
		for _, line := range text.Wrap(detail, inner-2) {
			head = append(head, " "+style.Render(line))
		}
	}
	facts := append([]fact{
		{"build", join(", ", buildWords(plugin.GetBuild(), v.Now), reloads(plugin))},
		{"running", strings.Join(v.Busy[state.PluginKey(plugin)], ", ")},
		{"stages", strings.Join(plugin.GetStages(), ", ")},
		{"deploys to", strings.Join(plugin.GetDeployTargets(), ", ")},
		{"holds", pluginHolds(plugin)},
	}, exitFacts(plugin, v.Now)...)
	for _, fact := range facts {
		if fact.value != "" {
			head = append(head, " "+th.Dim.Render(text.Pad(fact.label, 11, ""))+text.Cut(fact.value, inner-13,
				th.Ellipsis))
		}
	}
	head = append(head, " "+th.Dim.Render("last output"))
	var body []string
	for _, line := range plugin.GetLastOutput() {
		if v.Wrap {
			body = append(body, text.Chop(line, max(1, inner-2))...)
		} else {
			body = append(body, line)
		}
	}
	if len(body) == 0 {
		head = append(head, "   "+th.Dim.Render("nothing so far"))
	}
	room := max(0, height-1-len(head))
	end := len(body) - min(v.Up, max(0, len(body)-room))
	start := max(0, end-room)
	for _, line := range body[start:end] {
		head = append(head, " "+line)
	}
	frame := box{theme: th, title: v.Name.of(plugin), focused: true, total: len(body), top: start, shown: end - start}
	return frame.titled(head, width, height)
}
