// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// logSource is what the log pane shows: the log of one stage or of all, and the output of plugins with it.
type logSource struct {
	// all stages of the deployment, not only the selected one.
	all bool
	// output is 0 for no plugin, 1 for all, and from 2 on one of them.
	output int
	// pod has its log shown in place of those of stages; the zero value is none.
	pod podOf
}

// lateOutput is how long after the end of a stage what its plugin writes still belongs to it.
const lateOutput = 3 * time.Second

// pluginLines is the output of plugins that stands in a log.
type pluginLines struct {
	deck    *state.Deck
	plugins []*deckv1.Plugin
	lead    map[string]string
	// next is the place of the first line of each plugin that is not in the log.
	next map[string]int
	// from and to are the times between which lines belong to the log; to is zero while it goes on.
	from, to time.Time
}

// fresh returns the lines that are not in the log yet.
func (p *pluginLines) fresh() []logbuf.Line {
	var lines []logbuf.Line
	for _, plugin := range p.plugins {
		key := state.PluginKey(plugin)
		output, next := p.deck.PluginHistory(key).Output(p.next[key])
		p.next[key] = next
		for _, one := range output {
			if one.At.Before(p.from) || !p.to.IsZero() && one.At.After(p.to) {
				continue
			}
			clean, _ := text.LogLine(one.Text)
			level, _ := logbuf.LevelOf(clean)
			lines = append(lines, led(p.lead[key], logbuf.Line{Time: one.At, Severity: logbuf.Process, Level: level,
				Text: clean, Raw: one.Text}))
		}
	}
	slices.SortStableFunc(lines, func(a, b logbuf.Line) int { return a.Time.Compare(b.Time) })
	return lines
}

// sources say what the log pane shows, and know the stages and plugins that this means.
type sources struct {
	logSource
	chosen *selection
}

// candidates are the plugins that execute the stages of the log, each once.
func (s *sources) candidates() []*deckv1.Plugin {
	var plugins []*deckv1.Plugin
	for _, stage := range s.stages() {
		if plugin := s.chosen.deck.PluginOf(s.chosen.deployment(), stage); plugin != nil &&
			!slices.Contains(plugins, plugin) {
			plugins = append(plugins, plugin)
		}
	}
	return plugins
}

// plugins are those whose output is shown.
func (s *sources) plugins() []*deckv1.Plugin {
	all := s.candidates()
	switch at := s.output - 2; {
	case s.output == 0:
		return nil
	case at >= 0 && at < len(all):
		return all[at : at+1]
	}
	return all
}

// stages are those whose logs are shown.
func (s *sources) stages() []*deckv1.Stage {
	if s.all {
		return s.chosen.stages()
	}
	if stage := s.chosen.stage(); stage != nil {
		return []*deckv1.Stage{stage}
	}
	return nil
}

// name is what the title calls the log.
func (s *sources) name() string {
	name := "all stages"
	if !s.all {
		name = s.word(s.chosen.stage())
	}
	switch plugins := s.plugins(); {
	case len(plugins) == 1:
		name += " + " + s.chosen.deck.PluginName(plugins[0])
	case len(plugins) > 1:
		name += " + plugins"
	}
	return name
}

// word is the name of a stage, short where that is clear.
func (s *sources) word(stage *deckv1.Stage) string {
	word := state.StageWord(stage)
	for _, other := range s.chosen.deployment().GetStages() {
		if other.GetId() != stage.GetId() && state.StageWord(other) == word {
			return view.StageName(s.chosen.deployment(), stage)
		}
	}
	return word
}

// merge returns the time line, and what of it plugins write.
func (s *sources) merge() (*timeline, *pluginLines) {
	stages, plugins, d := s.stages(), s.plugins(), s.chosen.deployment()
	t := &timeline{lead: map[string]string{}}
	lines := &pluginLines{deck: s.chosen.deck, plugins: plugins, lead: map[string]string{}, next: map[string]int{}}
	var names []string
	for _, stage := range stages {
		t.stages = append(t.stages, stage.GetId())
		if s.all { // the name of the only one stands in the title
			names = append(names, s.word(stage))
		}
	}
	for _, plugin := range plugins {
		names = append(names, s.chosen.deck.PluginName(plugin))
	}
	lead := leads(names)
	for i := range lead[:len(lead)-len(plugins)] {
		t.lead[stages[i].GetId()] = lead[i]
	}
	for i, plugin := range plugins {
		lines.lead[state.PluginKey(plugin)] = lead[len(lead)-len(plugins)+i]
	}
	lines.from, lines.to = d.GetCreatedAt().AsTime(), ending(d.GetCompletedAt())
	if !s.all && len(stages) == 1 {
		lines.from, lines.to = stages[0].GetStartedAt().AsTime(), ending(stages[0].GetCompletedAt())
	}
	return t, lines
}

// ending is until when lines belong to what ended; zero for what goes on.
func ending(at *timestamppb.Timestamp) time.Time {
	if !at.IsValid() {
		return time.Time{}
	}
	return at.AsTime().Add(lateOutput)
}

// version changes when a time line has to be read again: a stage came, or one is tried again.
func (s *sources) version() int32 {
	var version int32
	for _, stage := range s.stages() {
		version += stage.GetRetries() + 1
	}
	return version
}

// turnAll shows the logs of all stages in one time line, or that of the selected one. It says what is shown.
func (s *sources) turnAll() string {
	s.all, s.pod = !s.all || s.pod != podOf{}, podOf{}
	if s.all {
		return "all stages in one time line"
	}
	return "the selected stage alone"
}

// turnOutput shows the output of the plugins: of none, of all, then of each alone. It says what is shown.
func (s *sources) turnOutput() string {
	s.pod = podOf{}
	plugins := s.candidates()
	choices := 2
	switch len(plugins) {
	case 0:
		return "no plugin has reported that it runs this"
	case 1:
	default:
		choices += len(plugins)
	}
	s.output = (min(s.output, choices-1) + 1) % choices
	switch shown := s.plugins(); {
	case s.output == 0:
		return "without the output of plugins"
	case len(shown) == 1:
		return "with the output of plugin " + s.chosen.deck.PluginName(shown[0])
	}
	return "with the output of all plugins"
}

// place is the time at which the user reads, for a log that is read again; zero for none.
type place struct{ at time.Time }

// keep remembers the first line in sight of a reader who does not follow.
func (p *place) keep(v *view.Log) {
	p.at = time.Time{}
	if v.Following || v.Buffer == nil {
		return
	}
	if lines := v.Buffer.Lines(v.Place(), 1); len(lines) > 0 {
		p.at = lines[0].Time
	}
}

// find returns the line to go to once the log has it, and forgets it then.
func (p *place) find(buffer *logbuf.Buffer) (line int, found bool) {
	if p.at.IsZero() {
		return 0, false
	}
	const page = 1000
	from, next := buffer.Span()
	for ; from < next; from += page {
		for i, line := range buffer.Lines(from, page) {
			if !line.Time.Before(p.at) {
				p.at = time.Time{}
				return from + i, true
			}
		}
	}
	return 0, false
}
