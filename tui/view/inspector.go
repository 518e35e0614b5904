// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Inspector shows all that the deck API knows of one stage and of the plugin that runs it.
type Inspector struct {
	Theme      theme.Theme
	Deployment *deckv1.Deployment
	// Stage is nil when none is selected.
	Stage *deckv1.Stage
	// Plugin runs the stage; nil when no plugin has reported this stage. PluginName is what users call it.
	Plugin     *deckv1.Plugin
	PluginName string
	// History is what the plugin has used; nil for nothing.
	History *state.PluginHistory
	// Run is what the stage was executed with; nil until it is known. Trouble is why it cannot be read.
	Run     *deckv1.GetStageRunResponse
	Trouble string
	// Earlier are older deployments of the application, the newest first. At most maxRuns of them are shown.
	Earlier []*deckv1.Deployment
	// Faults wait for its next run.
	Faults []*deckv1.Fault
	// Breaks are the breakpoints of the environment.
	Breaks []*deckv1.Breakpoint
	// Command shows the same log in a shell.
	Command string
	Now     time.Time
	// Match leaves out the lines for which it is false; nil keeps all.
	Match func(line string) bool
	// Top is the first line shown.
	Top int
}

const (
	// labelWidth is the width of the names of facts.
	labelWidth = 11
	// minColumns is the width below which names and values have no columns.
	minColumns = 40
	// twoColumns is the width from which the sections stand in two columns.
	twoColumns = 96
	// maxRuns bounds the list of earlier runs.
	maxRuns = 8
	// maxWords bounds the last output of the plugin, in lines.
	maxWords = 12
)

// Lines are all lines, for the given width.
func (v Inspector) Lines(width int) []string {
	if v.Stage == nil {
		const none = "No stage is selected: choose one in the deployment, then press i"
		return []string{"", " " + v.Theme.Dim.Render(none)}
	}
	if width < twoColumns {
		lines := append(v.about(width), v.around(width)...)
		if width < minColumns {
			lines = lines[1:] // the blank one below the title
		}
		return v.matching(lines)
	}
	half := width / 2
	left, right := v.matching(v.about(half)), v.matching(v.around(width-half))
	lines := make([]string, max(len(left), len(right)))
	for i := range lines {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines[i] = text.Pad(l, half, v.Theme.Ellipsis) + r
	}
	return lines
}

// Fit returns how many lines are shown of how many, when Draw gets that room.
func (v Inspector) Fit(width, height int) (page, all int) {
	all = len(v.Lines(width))
	return max(1, min(height-1, all)), all
}

// Draw returns width columns and height lines.
func (v Inspector) Draw(width, height int) string {
	page, all := v.Fit(width, height)
	page = min(page, all) // a search may match nothing
	top := max(0, min(v.Top, all-page))
	title := "Stage"
	if v.Stage != nil {
		title += " " + StageName(v.Deployment, v.Stage) + " of " + v.Deployment.GetApplicationName()
	}
	frame := box{theme: v.Theme, title: title, right: v.Theme.Dim.Render("esc closes"), focused: true,
		total: all, top: top, shown: page}
	return frame.titled(v.Lines(width)[top:top+page], width, height)
}

// held says where a debugger holds the stage; empty for one that does not run.
func (v Inspector) held() string {
	if v.Stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_RUNNING {
		return ""
	}
	return strings.TrimPrefix(HeldBy(v.Plugin), "held ")
}

func (v Inspector) matching(lines []string) []string {
	if v.Match == nil {
		return lines
	}
	return slices.DeleteFunc(lines, func(line string) bool { return !v.Match(text.Line(line)) })
}

// about are the sections of the stage itself.
func (v Inspector) about(width int) []string {
	th, s := v.Theme, v.Stage
	badge := stageBadge(th, s)
	status := badge.String()
	if s.GetStartedAt().IsValid() {
		took := state.StageTook(s, v.Now)
		if s.GetCompletedAt().IsValid() {
			status += " after " + Duration(took)
			if paused := s.GetPaused().AsDuration(); paused > 0 {
				status += th.Dim.Render(" and a pause of " + Duration(paused))
			}
		} else {
			status += "  " + Ticking(took)
		}
	}
	if usual := v.usual().Round(time.Second); usual > 0 && s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING {
		status += th.Dim.Render(" of about " + Duration(usual))
	}
	lines := append(v.charts(width), "") // what a metric decides is seen best, so it is seen first
	lines = append(lines, v.facts(width, slices.Concat([]fact{
		{"id", cmp.Or(s.GetConfigId(), s.GetId())},
		{"stage id", map[bool]string{true: s.GetId()}[s.GetConfigId() != ""]},
		{"type", s.GetName()},
		{"about", s.GetDesc()},
		{"status", status},
		{"reason", text.Line(s.GetStatusReason())},
		{"next run", v.waiting()},
		{"held", v.held()},
		{"shown", text.Line(s.GetDisplay())},
		{"needs", v.stages(s.GetRequires())},
		{"feeds", v.stages(v.followers())},
		{"runs", map[bool]string{true: "only when the deployment is rolled back"}[s.GetRollback()]},
		{"started", v.clock(s.GetStartedAt())},
		{"ended", v.clock(s.GetCompletedAt())},
		{"timeout", v.timeout()},
		{"attempt", fmt.Sprint(s.GetRetries() + 1)},
		{"build", buildWords(s.GetBuild(), v.Now)},
		{"silent", silence(s, v.Now)},
		{"asks", map[bool]string{true: text.Line(s.GetApprovalSubject())}[s.GetCanApprove()]},
		{"approvers", text.Line(strings.Join(s.GetApprovers(), ", "))},
	}, v.pause(), v.approvals(), []fact{
		{"progress", v.progress()},
	}))...)
	if len(s.GetTargets()) > 0 {
		lines = append(lines, v.section("Targets")...)
		for _, target := range s.GetTargets() {
			badge := stageBadge(th, &deckv1.Stage{Status: target.GetStatus()})
			lines = append(lines, v.facts(width, []fact{{target.GetName(),
				join(" ", badge.String(), text.Line(target.GetDetail()))}})...)
		}
	}
	lines = slices.Concat(lines, v.planned(width), v.attempts(width), v.config(width), v.notes(width), v.calls(width))
	if v.Command != "" {
		lines = append(lines, v.section("The log as a command")...)
		lines = append(lines, v.wrapped(v.Command, width)...)
	}
	return lines
}

// around are the sections of what is next to the stage: its earlier runs, and its plugin.
func (v Inspector) around(width int) []string {
	lines := slices.Concat(v.runs(width), v.section("Plugin"))
	p := v.Plugin
	if p == nil {
		return append(lines, v.wrapped("no plugin has reported that it runs "+v.Stage.GetName(), width)...)
	}
	th, badge := v.Theme, pluginBadge(v.Theme, p)
	process, memory, cpu := "", "", ""
	if p.GetPid() > 0 {
		process = fmt.Sprintf("pid %d, up %s", p.GetPid(), Ticking(state.Elapsed(p.GetStartedAt(), nil, v.Now)))
		memory = Bytes(p.GetRssBytes())
		cpu = fmt.Sprintf("%.0f%% of a core", p.GetCpuPercent())
		if v.History != nil {
			memory = join("  ", memory, spark(th, v.History.Memory))
			cpu = join("  ", cpu, spark(th, v.History.CPU))
		}
	}
	lines = append(lines, v.facts(width, []fact{
		{"name", join(" ", v.PluginName, text.Line(p.GetVersion()))},
		{"state", badge.String()},
		{"reason", text.Line(p.GetDetail())},
		{"process", process},
		{"program", text.Line(p.GetBinary())},
		{"build", buildWords(p.GetBuild(), v.Now)},
		{"restarts", v.restarts()},
		{"crashes", counted(p.GetCrashes())},
		{"by faults", counted(p.GetInjectedEnds())},
		{"reloads", counted(p.GetReloads())},
		{"memory", memory},
		{"CPU", cpu},
		{"holds", pluginHolds(p)},
		{"limits", pluginLimits(p)},
		{"deploys to", strings.Join(p.GetDeployTargets(), ", ")},
	})...)
	lines = append(lines, v.exits(width)...)
	lines = append(lines, v.section("Last words of the plugin")...)
	output := lastWords(p.GetLastOutput())
	if len(output) == 0 {
		return append(lines, " "+th.Dim.Render("nothing so far"))
	}
	for _, line := range output {
		lines = append(lines, " "+text.Cut(text.Line(line), width-2, th.Ellipsis))
	}
	return lines
}

// runs are the same stage in earlier deployments, with bars in proportion.
func (v Inspector) runs(width int) []string {
	th, lines := v.Theme, v.section("Earlier runs of this stage")
	longest, found := time.Duration(1), 0
	for _, run := range v.earlier() {
		longest = max(longest, state.StageTook(run.stage, v.Now))
	}
	for _, run := range v.earlier() {
		took := state.StageTook(run.stage, v.Now)
		room := max(1, min(20, width-22))
		bar := strings.Repeat(th.Horizontal, max(1, int(took*time.Duration(room)/longest)))
		badge := stageBadge(th, run.stage)
		lines = append(lines, " "+badge.dot()+" "+th.Info.Render(text.Pad(shortHash(run.commit), 8, ""))+
			text.PadLeft(Duration(took), durationWidth, "")+" "+badge.style.Render(bar))
		found++
	}
	if found == 0 {
		lines = append(lines, " "+th.Dim.Render("none in the history that is kept"))
	}
	return lines
}

type run struct {
	commit string
	stage  *deckv1.Stage
}

// earlier are the runs of the same stage in other deployments: the one at the same place with the same name.
func (v Inspector) earlier() []run {
	var runs []run
	for _, d := range v.Earlier {
		for _, stage := range d.GetStages() {
			if d.GetId() != v.Deployment.GetId() && stage.GetName() == v.Stage.GetName() &&
				stage.GetIndex() == v.Stage.GetIndex() && stage.GetRollback() == v.Stage.GetRollback() &&
				state.StageEnded(stage.GetStatus()) && stage.GetStartedAt().IsValid() {
				runs = append(runs, run{d.GetCommit().GetHash(), stage})
			}
		}
	}
	return runs[:min(len(runs), maxRuns)]
}

// usual is how long the stage took when it last succeeded; 0 when that is not known.
func (v Inspector) usual() time.Duration {
	for _, run := range v.earlier() {
		if run.stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_SUCCESS {
			return state.StageTook(run.stage, v.Now)
		}
	}
	return 0
}

// followers are the ids of the stages that need this one.
func (v Inspector) followers() []string {
	var ids []string
	for _, stage := range v.Deployment.GetStages() {
		if slices.Contains(stage.GetRequires(), v.Stage.GetId()) {
			ids = append(ids, stage.GetId())
		}
	}
	return ids
}

// stages lists stages with their states.
func (v Inspector) stages(ids []string) string {
	var listed []string
	for _, stage := range v.Deployment.GetStages() {
		if slices.Contains(ids, stage.GetId()) {
			listed = append(listed, stageBadge(v.Theme, stage).dot()+" "+StageName(v.Deployment, stage))
		}
	}
	return strings.Join(listed, "  ")
}

func (v Inspector) progress() string {
	if v.Stage.GetProgress() == nil {
		return ""
	}
	return progressWords(v.Stage.GetProgress())
}

// facts are lines of a section; those without a value are left out.
func (v Inspector) facts(width int, facts []fact) []string {
	var lines []string
	for _, f := range facts {
		if f.value == "" {
			continue
		}
		if width < minColumns {
			for _, part := range text.Wrap(v.Theme.Dim.Render(text.Line(f.label)+":")+" "+f.value, max(1, width-1)) {
				lines = append(lines, " "+part)
			}
			continue
		}
		label := v.Theme.Dim.Render(text.Pad(text.Line(f.label), labelWidth, v.Theme.Ellipsis))
		for i, part := range text.Wrap(f.value, max(8, width-labelWidth-3)) {
			if i > 0 {
				label = strings.Repeat(" ", labelWidth)
			}
			lines = append(lines, " "+label+" "+part)
		}
	}
	return lines
}

func (v Inspector) wrapped(line string, width int) []string {
	var lines []string
	for _, part := range text.Wrap(text.Line(line), max(8, width-2)) {
		lines = append(lines, " "+part)
	}
	return lines
}

func (v Inspector) section(title string) []string {
	return []string{"", " " + v.Theme.Title.Render(title)}
}

// pluginLimits are those of the configuration.
func pluginLimits(p *deckv1.Plugin) string {
	var limits []string
	if n := p.GetMemoryLimitBytes(); n > 0 {
		limits = append(limits, Bytes(n)+" of memory")
	}
	if n := p.GetCpuLimitCores(); n > 0 {
		limits = append(limits, fmt.Sprintf("%g cores", n))
	}
	if n := p.GetPidsLimit(); n > 0 {
		limits = append(limits, fmt.Sprint(n, " processes"))
	}
	return strings.Join(limits, ", ")
}

// clock is a time of day in the zone of Now, with its name; "" when the time is not known.
func (v Inspector) clock(at *timestamppb.Timestamp) string {
	if !at.IsValid() {
		return ""
	}
	return at.AsTime().In(v.Now.Location()).Format("15:04:05 MST")
}
