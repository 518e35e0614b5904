// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// maxConfig and maxNotes bound the configuration and the metadata, in lines and in entries.
const maxConfig, maxNotes = 60, 30

// timeout is how long the stage may take, and what is left of it while it runs; "" when that is not known.
func (v Inspector) timeout() string {
	if !v.Run.GetTimeout().IsValid() || v.Run.GetTimeout().AsDuration() <= 0 {
		return ""
	}
	limit := v.Run.GetTimeout().AsDuration()
	said := Duration(limit)
	first := v.Stage.GetStartedAt()
	if attempts := v.Run.GetAttempts(); len(attempts) > 0 && attempts[0].GetNumber() == 1 {
		first = attempts[0].GetStartedAt()
	}
	if v.Stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_RUNNING || !first.IsValid() {
		return said
	}
	end := first.AsTime().Add(limit)
	left := end.Sub(v.Now)
	if left <= 0 {
		return said + ", which is over"
	}
	return fmt.Sprintf("%s, %s left: it ends at %s", said, Ticking(left), v.clock(timestamppb.New(end)))
}

// approvals are those so far, each with its time.
func (v Inspector) approvals() []fact {
	var facts []fact
	for i, approval := range v.Stage.GetApprovals() {
		label := ""
		if i == 0 {
			label = "approved"
		}
		facts = append(facts, fact{label, "by " + text.Line(approval.GetUser()) + " at " + v.clock(approval.GetAt())})
	}
	if needed := v.Stage.GetApprovalsNeeded(); needed > 0 {
		facts = append(facts, fact{"approvals", fmt.Sprintf("%d of %d", len(v.Stage.GetApprovedBy()), needed)})
	}
	return facts
}

// attempts are the calls of the plugin: when each began and ended, and its answer.
func (v Inspector) attempts(width int) []string {
	th := v.Theme
	lines := v.section("Attempts, each a call of ExecuteStage")
	if v.Trouble != "" {
		return append(lines, v.wrapped(th.Warn.Render("cannot read them: "+text.Line(v.Trouble)), width)...)
	}
	if len(v.Run.GetAttempts()) == 0 {
		return append(lines, " "+th.Dim.Render("none reported"))
	}
	for _, a := range v.Run.GetAttempts() {
		badge := stageBadge(th, &deckv1.Stage{Status: a.GetStatus()})
		if a.GetStatus() == deckv1.StageStatus_STAGE_STATUS_UNSPECIFIED {
			badge.icon, badge.word, badge.style = th.Undo, "no answer", th.Tones.Warn
		}
		took := state.Elapsed(a.GetStartedAt(), a.GetEndedAt(), v.Now)
		words := Ticking(took)
		if a.GetEndedAt().IsValid() {
			words = Duration(took)
		}
		value := join("  ", badge.String(), words, v.span(a.GetStartedAt(), a.GetEndedAt()))
		if len(v.Run.GetAttempts()) > 1 { // that of the only one stands with the stage
			value = join("  ", value, th.Dim.Render(text.Line(a.GetBuild().GetHash())))
		}
		lines = append(lines, v.facts(width, []fact{{fmt.Sprint("#", a.GetNumber()), value}})...)
		reason := text.Line(a.GetReason())
		if reason != "" && a.GetStatus() != deckv1.StageStatus_STAGE_STATUS_SUCCESS {
			lines = append(lines, v.facts(width, []fact{{"answer", reason}})...)
		}
	}
	return lines
}

// span is from when to when something was.
func (v Inspector) span(from, to *timestamppb.Timestamp) string {
	if !to.IsValid() {
		return "since " + v.clock(from)
	}
	if !from.IsValid() {
		return v.clock(to)
	}
	return from.AsTime().In(v.Now.Location()).Format("15:04:05") + " to " + v.clock(to)
}

// config is the configuration of the stage as its plugin gets it.
func (v Inspector) config(width int) []string {
	if v.options() == "" {
		return nil
	}
	th, lines := v.Theme, v.section("Configuration, as the plugin gets it")
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(asTyped(v.options())), "", "  ") != nil {
		return append(lines, v.wrapped(v.options(), width)...)
	}
	if strings.TrimSpace(indented.String()) == "{}" {
		return append(lines, " "+th.Dim.Render("no options"))
	}
	all := strings.Split(indented.String(), "\n")
	for _, line := range all[:min(len(all), maxConfig)] {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for _, part := range text.Chop(text.Line(line[indent:]), max(8, width-2-indent)) {
			lines = append(lines, " "+strings.Repeat(" ", indent)+part)
		}
	}
	if more := len(all) - maxConfig; more > 0 {
		lines = append(lines, " "+th.Dim.Render(fmt.Sprintf("%d more lines", more)))
	}
	return lines
}

// asTyped has <, > and & of JSON as they are; Go escapes them for web pages.
func asTyped(config string) string {
	var out strings.Builder
	for i := 0; i < len(config); i++ {
		if config[i] != '\\' || i+1 == len(config) {
			out.WriteByte(config[i])
			continue
		}
		letter, web := webEscapes[config[i:min(i+6, len(config))]]
		if web {
			out.WriteByte(letter)
			i += 5
			continue
		}
		out.WriteString(config[i : i+2]) // a backslash that stands for itself begins nothing
		i++
	}
	return out.String()
}

var webEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&'}

// notes is the metadata that the plugin keeps with the stage.
func (v Inspector) notes(width int) []string {
	keys := slices.Sorted(maps.Keys(v.Run.GetMetadata()))
	if v.charts(twoColumns) != nil {
		keys = slices.DeleteFunc(keys, func(key string) bool { return key == seriesKey })
	}
	if v.planned(twoColumns) != nil {
		keys = slices.DeleteFunc(keys, state.IsPlannedKey)
	}
	if len(keys) == 0 {
		return nil
	}
	lines := v.section("Metadata")
	for _, key := range keys[:min(len(keys), maxNotes)] {
		for _, part := range text.Wrap(v.Theme.Dim.Render(text.Line(key)+":")+" "+
			text.Line(v.Run.GetMetadata()[key]), max(8, width-2)) {
			lines = append(lines, " "+part)
		}
	}
	return lines
}

// restarts counts those of the plugin, and says when the last of them were.
func (v Inspector) restarts() string {
	said := fmt.Sprint(v.Plugin.GetRestarts())
	var times []string
	for _, at := range v.Plugin.GetRestartedAt() {
		times = append(times, at.AsTime().In(v.Now.Location()).Format("15:04:05"))
	}
	if len(times) == 0 {
		return said
	}
	return said + ", at " + strings.Join(times, ", ")
}

// exits are the last exits of the plugin, the newest first and with its stack.
func (v Inspector) exits(width int) []string {
	all := v.Plugin.GetExits()
	if len(all) == 0 {
		return nil
	}
	lines := v.section("Last exits of the plugin")
	for i, e := range slices.Backward(all) {
		lines = append(lines, v.facts(width, []fact{
			{"exit", join("  ", moment(e.GetAt().AsTime(), v.Now), exitWords(e), text.Line(e.GetBuild().GetHash()))},
		})...)
		if i < len(all)-1 {
			continue
		}
		for _, frame := range e.GetStack() {
			lines = append(lines, "   "+text.Cut(v.Theme.Dim.Render(text.Line(frame)), width-4, v.Theme.Ellipsis))
		}
	}
	return lines
}

// counted is a number that says nothing while it is 0.
func counted(n int32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// maxSpark is the greatest width of a line of bars.
const maxSpark = 30

// spark draws the last values as bars in proportion to the greatest; "" for fewer than two.
func spark(th theme.Theme, values []float64) string {
	values = values[max(0, len(values)-maxSpark):]
	if len(values) < 2 {
		return ""
	}
	greatest := slices.Max(values)
	line := ""
	for _, value := range values {
		height := 0
		if greatest > 0 {
			height = int(value / greatest * float64(len(th.Spark)-1))
		}
		line += th.Spark[height]
	}
	return th.Info.Render(line)
}

// registers are the lines with which the Go runtime ends a fatal error on some systems.
var registers = regexp.MustCompile(`^(r[a-z0-9]{1,2}|rip|rflags|[c-g]s|x[0-9]{1,2}|lr|sp|pc|fault)\s+0x[0-9a-f]+$`)

// lastWords are the lines of output worth reading first: the head of a Go panic without its registers, else the last
// ones.
func lastWords(output []string) []string {
	words := slices.DeleteFunc(slices.Clone(output), func(line string) bool {
		return registers.MatchString(strings.TrimSpace(line))
	})
	for i := len(words) - 1; i >= 0; i-- {
		if strings.HasPrefix(words[i], "panic:") || strings.HasPrefix(words[i], "fatal error:") {
			return words[i:min(len(words), i+maxWords)]
		}
	}
	return words[max(0, len(words)-maxWords):]
}
