// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"path"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

// maxCalls bounds the rows of calls that are shown.
const maxCalls = 20

// repeatedCall is a call, and how often the same one followed it.
type repeatedCall struct {
	*deckv1.PluginCall
	times int
}

// calls are the last calls between piped and the plugin about the stage: > is one of piped, < one of the plugin. Equal
// ones in a row are one.
func (v Inspector) calls(width int) []string {
	all := folded(v.Run.GetCalls())
	if len(all) == 0 {
		return nil
	}
	th, lines := v.Theme, v.section("Calls, > by piped, < by the plugin")
	shown := all[max(0, len(all)-maxCalls):]
	if len(shown) < len(all) {
		lines = append(lines, " "+th.Dim.Render("others before them: pipedeck plugin calls"))
	}
	for _, call := range shown {
		arrow, style := "> ", th.Info
		if call.GetDirection() == deckv1.PluginCall_DIRECTION_TO_PIPED {
			arrow = "< "
		}
		took, end := Duration(call.GetDuration().AsDuration()), ""
		switch {
		case call.GetDuration() == nil:
			took, end = "", "runs"
		case call.GetFailed():
			style, end = th.Bad, text.Line(call.GetCode()+" "+call.GetDetail())
		case call.times > 1:
			end = fmt.Sprintf("%d times", call.times)
		}
		at := call.GetStartedAt().AsTime().In(v.Now.Location()).Format("15:04:05")
		line := join("  ", th.Dim.Render(at), style.Render(arrow+text.Line(path.Base(call.GetMethod()))), took, end)
		lines = append(lines, " "+text.Cut(line, max(8, width-2), th.Ellipsis))
	}
	return lines
}

// folded joins equal calls in a row.
func folded(calls []*deckv1.PluginCall) (rows []repeatedCall) {
	for _, call := range calls {
		last := len(rows) - 1
		if last >= 0 && call.GetMethod() == rows[last].GetMethod() && plainCall(call) &&
			plainCall(rows[last].PluginCall) {
			rows[last].times++
			continue
		}
		rows = append(rows, repeatedCall{call, 1})
	}
	return rows
}

// plainCall reports whether a call ended well.
func plainCall(c *deckv1.PluginCall) bool { return c.GetDuration() != nil && !c.GetFailed() }

// waiting says which faults wait for the next run of the stage; empty for none.
func (v Inspector) waiting() string {
	if len(v.Faults) == 0 {
		return ""
	}
	var rules []string
	for _, f := range v.Faults {
		rules = append(rules, text.Line(f.GetRule()))
	}
	return v.Theme.Bad.Render("fault: ") + strings.Join(rules, ", ")
}
